import type { JSX, ReactNode } from 'react';
import type { ServiceError } from '../service';

/** An empty list: says so, and offers the first step. */
export function EmptyState(props: { text: string; children?: ReactNode }): JSX.Element {
  return (
    <div className="jp-SvcState" role="note">
      <p>{props.text}</p>
      {props.children}
    </div>
  );
}

/** A failed read: shows the service's error, and offers to retry. */
export function ErrorState(props: {
  error: ServiceError;
  retry: () => void;
  retryLabel: string;
}): JSX.Element {
  return (
    <div className="jp-SvcState jp-mod-error" role="alert">
      <p>{props.error.message}</p>
      <button type="button" className="jp-SvcButton jp-mod-small" onClick={props.retry}>
        {props.retryLabel}
      </button>
    </div>
  );
}

/** The first read is in progress. */
export function LoadingState(props: { text: string }): JSX.Element {
  return (
    <div className="jp-SvcState" role="status">
      <p>{props.text}</p>
    </div>
  );
}
