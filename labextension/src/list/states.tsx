import type { JSX, ReactNode } from 'react';
import type { ServiceError } from '../service';

/** A list with nothing in it: says so, and offers the first step. */
export function EmptyState(props: { text: string; children?: ReactNode }): JSX.Element {
  return (
    <div className="jp-SvcState" role="note">
      <p>{props.text}</p>
      {props.children}
    </div>
  );
}

/** Something that could not be read: says why in the service's words, and offers to try again. */
export function ErrorState(props: {
  error: ServiceError;
  retry: () => void;
  retryLabel: string;
}): JSX.Element {
  return (
    <div className="jp-SvcState jp-mod-error" role="alert">
      <p>{props.error.message}</p>
      <button
        type="button"
        className="jp-Button jp-mod-styled jp-mod-minimal"
        onClick={props.retry}
      >
        {props.retryLabel}
      </button>
    </div>
  );
}

/** Something that is read for the first time. */
export function LoadingState(props: { text: string }): JSX.Element {
  return (
    <div className="jp-SvcState" role="status">
      <p>{props.text}</p>
    </div>
  );
}
