import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSX } from 'react';
import { type Resource, useResource } from '../service';
import type { IConnectionStatus } from '../service/records/connection';
import { triedLines } from './model';

/** Stands in place of the sections while there is no connection: what was tried, and the ways on. */
export function NotConnected(props: {
  connection: Resource<IConnectionStatus>;
  trans: TranslationBundle;
}): JSX.Element {
  const { connection, trans } = props;
  const tried = triedLines(useResource(connection), trans);
  return (
    <div className="jp-SvcState">
      {tried.map(line => (
        <p key={line}>{line}</p>
      ))}
    </div>
  );
}
