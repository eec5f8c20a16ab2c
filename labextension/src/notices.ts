import { Notification } from '@jupyterlab/apputils';
import { asServiceError } from './service';

/** How long a notice is shown, in milliseconds. */
const SHOWN = 8_000;

/** Show a notice for some seconds. JupyterLab keeps one without `autoClose` in its notification center alone. */
export function notify(message: string): void {
  Notification.info(message, { autoClose: SHOWN });
}

/** Show that something was done, for some seconds. */
export function notifyDone(message: string): void {
  Notification.success(message, { autoClose: SHOWN });
}

/** Show why something failed, a text or what was thrown, until it is dismissed. */
export function notifyError(reason: unknown): void {
  const message = typeof reason === 'string' ? reason : asServiceError(reason).message;
  Notification.error(message, { autoClose: false });
}
