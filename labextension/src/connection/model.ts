import type { TranslationBundle } from '@jupyterlab/translation';
import type { IResourceState } from '../service';
import type { IConnectionStatus } from '../service/records/connection';

/** The connection in one line. */
export interface IConnectionLine {
  kind: 'connected' | 'missing' | 'looking';
  icon: string;
  words: string;
  /** Address and where it came from. */
  details: string;
}

/** The server's name for the embedded service as the source of an address. */
const EMBEDDED = 'embedded service';

/** Return the line at the top of the panel. */
export function connectionLine(
  state: IResourceState<IConnectionStatus>,
  trans: TranslationBundle
): IConnectionLine {
  const { value, error } = state;
  const details = addressOf(value, trans);
  if (value?.connected === true && error === undefined) {
    const words = trans.__('connected · %1', value.account?.email ?? trans.__('unknown user'));
    return { kind: 'connected', icon: '●', words, details };
  }
  if (value === undefined && error === undefined) {
    return { kind: 'looking', icon: '◐', words: trans.__('looking for the service'), details };
  }
  return { kind: 'missing', icon: '○', words: trans.__('not connected'), details };
}

/** Return the connection attempt and its failure, for the view that replaces the sections. */
export function triedLines(
  state: IResourceState<IConnectionStatus>,
  trans: TranslationBundle
): string[] {
  const { value, error } = state;
  if (error !== undefined) {
    return [trans.__('The Jupyter server was asked: %1', error.message)];
  }
  const lines = value === undefined ? [] : [addressOf(value, trans), value.message ?? ''];
  return lines.filter(line => line !== '');
}

function addressOf(status: IConnectionStatus | undefined, trans: TranslationBundle): string {
  if (status === undefined || status.source === null) {
    return '';
  }
  return status.base_url === null || status.source === EMBEDDED
    ? trans.__('The service of this machine')
    : trans.__('%1 (address from %2)', status.base_url, status.source);
}

/** Return whether the embedded service was tried. */
export function isOfThisMachine(state: IResourceState<IConnectionStatus>): boolean {
  return state.value?.source === EMBEDDED;
}
