import type { TranslationBundle } from '@jupyterlab/translation';
import { type JSX, useEffect, useMemo } from 'react';
import { CommandLog } from '../commands/commandLog';
import { CommandDetailModel } from '../commands/detailModel';
import { useCommandView } from '../commands/hooks';
import type { ServiceRequests } from '../service';

/** The live log of a run's command. */
export function ActionLog(props: {
  requests: ServiceRequests;
  commandId: number;
  label: string;
  trans: TranslationBundle;
}): JSX.Element {
  const { requests, commandId, label, trans } = props;
  const model = useMemo(
    () => new CommandDetailModel(requests, commandId, { withResult: false }),
    [requests, commandId]
  );
  useEffect(() => () => model.dispose(), [model]);
  const view = useCommandView(model);
  return (
    <div className="jp-SvcLog">
      {view.error !== null && <p role="alert">✗ {view.error.message}</p>}
      <CommandLog model={model} view={view} title={label} trans={trans} />
    </div>
  );
}
