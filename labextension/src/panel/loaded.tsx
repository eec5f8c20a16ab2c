import { Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { type JSX, useEffect, useState } from 'react';

/** Return a function that loads at its first call, and again at the next call after a failure. */
export function loadedOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | null = null;
  return () =>
    (loading ??= load().catch((reason: unknown) => {
      loading = null;
      throw reason;
    }));
}

/** Return a function that offers to load again, in one message for all loads that have failed since the last offer. */
export function reloading(trans: TranslationBundle): (retry: () => void) => void {
  let waiting: (() => void)[] = [];
  let shown = '';
  const callback = (): void => {
    const retries = waiting;
    waiting = [];
    retries.forEach(retry => retry());
  };
  return retry => {
    waiting.push(retry);
    Notification.dismiss(shown);
    shown = Notification.error(notLoaded(trans), {
      autoClose: false,
      actions: [{ label: trans.__('Try again'), callback }]
    });
  };
}

function notLoaded(trans: TranslationBundle): string {
  return trans.__('The Jupyter server did not send this part.');
}

/** What `Loaded` needs. */
export interface ILoadedProps<T> {
  /** Loads the code; the same function at each rendering. */
  load: () => Promise<T>;
  /** Renders what was loaded. */
  children: (loaded: T) => JSX.Element;
  trans: TranslationBundle;
}

/** Content whose code is loaded when it is first rendered; where that fails, a line that offers to load it again. */
export function Loaded<T>({ load, children, trans }: ILoadedProps<T>): JSX.Element | null {
  const [attempt, setAttempt] = useState(0);
  const [state, setState] = useState<{ loaded?: T; hasFailed: boolean }>({ hasFailed: false });
  useEffect(() => {
    let isWanted = true;
    const show = (next: typeof state): void => {
      if (isWanted) {
        setState(next);
      }
    };
    load().then(
      loaded => show({ loaded, hasFailed: false }),
      (reason: unknown) => {
        console.error(reason);
        show({ hasFailed: true });
      }
    );
    return () => {
      isWanted = false;
    };
  }, [load, attempt]);
  if (state.loaded !== undefined) {
    return children(state.loaded);
  }
  return state.hasFailed ? (
    <div className="jp-SvcState jp-mod-error" role="alert">
      <p>{notLoaded(trans)}</p>
      <button
        type="button"
        className="jp-SvcButton jp-mod-small"
        onClick={() => setAttempt(attempt + 1)}
      >
        {trans.__('Try again')}
      </button>
    </div>
  ) : null;
}
