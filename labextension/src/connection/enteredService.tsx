import type { TranslationBundle } from '@jupyterlab/translation';
import { type FormEvent, type JSX, useState } from 'react';

/** Address and token as they are sent to the Jupyter server. */
export interface IEnteredService {
  base_url: string;
  token: string;
}

/**
 * A form for another service.
 *
 * The token goes to the Jupyter server, which keeps it: this page forgets it once it is sent, and stores it nowhere.
 */
export function EnteredService(props: {
  isTrying: boolean;
  connect: (entered: IEnteredService) => Promise<void>;
  trans: TranslationBundle;
}): JSX.Element {
  const { isTrying, connect, trans } = props;
  const [address, setAddress] = useState('');
  const [token, setToken] = useState('');

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void connect({ base_url: address.trim(), token: token.trim() });
    setToken('');
  };

  return (
    <form className="jp-SvcEntered" aria-label={trans.__('Another service')} onSubmit={submit}>
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
      <button type="submit" className="jp-Button jp-mod-styled jp-mod-accept" disabled={isTrying}>
        {trans.__('Connect')}
      </button>
    </form>
  );
}
