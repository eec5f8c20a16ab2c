import type { TranslationBundle } from '@jupyterlab/translation';
import { refreshIcon, ToolbarButtonComponent } from '@jupyterlab/ui-components';
import type { JSX } from 'react';
import { type Resource, useResource } from '../service';
import type { IConnectionStatus } from '../service/records/connection';
import { connectionLine } from './model';

/** The line at the top of the panel: the connection, the user, and a button to check again. */
export function ConnectionHeader(props: {
  connection: Resource<IConnectionStatus>;
  trans: TranslationBundle;
}): JSX.Element {
  const { connection, trans } = props;
  const line = connectionLine(useResource(connection), trans);
  return (
    <div className="jp-SvcHeader">
      <span className={`jp-SvcHeader-line jp-mod-${line.kind}`} role="status" title={line.details}>
        <span aria-hidden="true">{line.icon}</span> {line.words}
      </span>
      <ToolbarButtonComponent
        icon={refreshIcon}
        tooltip={trans.__('Refresh')}
        onClick={() => void connection.refresh()}
      />
    </div>
  );
}
