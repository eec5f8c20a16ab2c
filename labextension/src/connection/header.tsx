import type { TranslationBundle } from '@jupyterlab/translation';
import { refreshIcon, ToolbarButtonComponent } from '@jupyterlab/ui-components';
import type { JSX } from 'react';
import { type Resource, useResource } from '../service';
import type { IConnectionStatus } from '../service/records/connection';
import { connectionLine } from './model';

/** The line at the top of the panel: the user and the service, and a button that reads everything again. */
export function ConnectionHeader(props: {
  connection: Resource<IConnectionStatus>;
  refresh: () => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { connection, refresh, trans } = props;
  const { kind, icon, state, words, details } = connectionLine(useResource(connection), trans);
  return (
    <div className="jp-SvcHeader">
      <span className={`jp-SvcHeader-line jp-mod-${kind}`} role="status" title={details}>
        <span aria-hidden="true" className="jp-SvcHeader-dot">
          {icon}
        </span>
        <span className="jp-SvcHeader-words">
          {words.length === 0 ? state : <span className="jp-SvcUnseen">{state}</span>}
          {words.map(word => (
            <span key={word}>
              <span className="jp-SvcUnseen"> · </span>
              {word}
            </span>
          ))}
        </span>
      </span>
      <ToolbarButtonComponent icon={refreshIcon} tooltip={trans.__('Refresh')} onClick={refresh} />
    </div>
  );
}
