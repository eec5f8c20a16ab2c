import type { TranslationBundle } from '@jupyterlab/translation';
import { type JSX, useState } from 'react';
import { asServiceError, type ISvcService, useResource } from '../service';
import type { IConnectionStatus } from '../service/records/connection';
import { EnteredService } from './enteredService';
import { isOfThisMachine, triedLines } from './model';

/** Stands in place of the sections while there is no connection: what was tried, and the ways on. */
export function NotConnected(props: {
  service: ISvcService;
  trans: TranslationBundle;
}): JSX.Element {
  const { service, trans } = props;
  const { connection, requests } = service;
  const state = useResource(connection);
  const [problem, setProblem] = useState('');
  const [isTrying, setIsTrying] = useState(false);

  const attempt = async (call: () => Promise<IConnectionStatus>): Promise<void> => {
    setIsTrying(true);
    setProblem('');
    try {
      connection.set(await call());
    } catch (reason) {
      setProblem(asServiceError(reason).message);
    } finally {
      setIsTrying(false);
    }
  };

  if (state.value === undefined && state.error === undefined) {
    return <div className="jp-SvcState">{trans.__('Looking for the service …')}</div>;
  }
  return (
    <div className="jp-SvcState jp-SvcNotConnected">
      <div role="status">
        {triedLines(state, trans).map(line => (
          <p key={line}>{line}</p>
        ))}
        <p>{trans.__('It is looked for again every few seconds.')}</p>
      </div>
      {problem !== '' && (
        <p role="alert" className="jp-SvcFailure">
          {problem}
        </p>
      )}
      {state.error === undefined && (
        <>
          <Way
            label={trans.__('Read the Settings Anew')}
            isTrying={isTrying}
            go={() => attempt(() => requests.post<IConnectionStatus>('status'))}
          />
          {!isOfThisMachine(state) && (
            <Way
              label={trans.__('Start the Service of This Machine')}
              isTrying={isTrying}
              go={() =>
                attempt(() => requests.put<IConnectionStatus>('status', { embedded: true }))
              }
            />
          )}
          <EnteredService
            isTrying={isTrying}
            trans={trans}
            connect={entered => attempt(() => requests.put<IConnectionStatus>('status', entered))}
          />
        </>
      )}
    </div>
  );
}

function Way(props: { label: string; isTrying: boolean; go: () => Promise<void> }): JSX.Element {
  return (
    <button
      type="button"
      className="jp-Button jp-mod-styled jp-mod-reject"
      disabled={props.isTrying}
      onClick={() => void props.go()}
    >
      {props.label}
    </button>
  );
}
