import type { TranslationBundle } from '@jupyterlab/translation';
import { type FormEvent, type JSX, useState } from 'react';
import { asServiceError, type ISvcService, useResource } from '../service';
import type { IConnectionStatus } from '../service/records/connection';
import { fixedAddress, isOfThisMachine, triedLines } from './model';

/** Replaces the sections while there is no connection: the attempt, and the possible next steps. */
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
  const fixed = fixedAddress(state, trans);
  return (
    <div className="jp-SvcState jp-SvcNotConnected">
      <div role="status">
        {triedLines(state, trans).map(line => (
          <p key={line}>{line}</p>
        ))}
        <p className="jp-SvcMuted">{trans.__('It is tried again every few seconds.')}</p>
      </div>
      {state.error === undefined && (
        <>
          {!isOfThisMachine(state) && (
            <button
              type="button"
              className="jp-SvcButton jp-mod-accept"
              disabled={isTrying}
              onClick={() =>
                void attempt(() => requests.put<IConnectionStatus>('status', { embedded: true }))
              }
            >
              {trans.__('Start the service of this machine')}
            </button>
          )}
          <button
            type="button"
            className="jp-SvcButton"
            disabled={isTrying}
            onClick={() => void attempt(() => requests.post<IConnectionStatus>('status'))}
          >
            {trans.__('Read the settings again')}
          </button>
          {fixed === null ? (
            <EnteredService
              isTrying={isTrying}
              problem={problem}
              trans={trans}
              connect={entered => attempt(() => requests.put<IConnectionStatus>('status', entered))}
            />
          ) : (
            <>
              {problem !== '' && <Problem text={problem} />}
              <p>{fixed}</p>
            </>
          )}
        </>
      )}
    </div>
  );
}

/** Address and token for the Jupyter server. */
export interface IEnteredService {
  base_url: string;
  token: string;
}

/**
 * A form for another service.
 *
 * The token goes to the Jupyter server, which stores it: this page forgets it after sending and stores it nowhere.
 */
export function EnteredService(props: {
  isTrying: boolean;
  /** Why the last attempt failed; empty for none. */
  problem: string;
  connect: (entered: IEnteredService) => Promise<void>;
  trans: TranslationBundle;
}): JSX.Element {
  const { isTrying, problem, connect, trans } = props;
  const [address, setAddress] = useState('');
  const [token, setToken] = useState('');

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void connect({ base_url: address.trim(), token: token.trim() });
    setToken('');
  };

  return (
    <form className="jp-SvcEntered" aria-label={trans.__('Another service')} onSubmit={submit}>
      <b>{trans.__('Or connect to another service')}</b>
      <label>
        {trans.__('Address of the service')}
        <input
          className="jp-mod-styled"
          type="url"
          required
          placeholder={trans.__('https://service.example.com')}
          value={address}
          onChange={event => setAddress(event.target.value)}
        />
      </label>
      <label>
        {trans.__('Token')}
        <input
          className="jp-mod-styled"
          type="password"
          autoComplete="off"
          required
          value={token}
          onChange={event => setToken(event.target.value)}
        />
      </label>
      {problem !== '' && <Problem text={problem} />}
      <button type="submit" className="jp-SvcButton" disabled={isTrying}>
        {trans.__('Connect')}
      </button>
    </form>
  );
}

/** Why the last attempt failed. */
function Problem({ text }: { text: string }): JSX.Element {
  return (
    <p role="alert" className="jp-SvcFailure">
      {text}
    </p>
  );
}
