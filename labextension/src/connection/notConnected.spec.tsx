import { nullTranslator } from '@jupyterlab/translation';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { type ISvcService, Resource } from '../service';
import type { IConnectionStatus } from '../service/records/connection';
import { NotConnected } from './notConnected';

/** Return what the panel shows without a connection. */
function shown(fixed_by: IConnectionStatus['fixed_by']): HTMLElement {
  const answer: IConnectionStatus = {
    connected: false,
    base_url: 'https://service.test',
    source: 'somewhere',
    token_source: 'somewhere',
    fixed_by,
    account: null,
    message: 'the service is away'
  };
  const fetch = (): Promise<IConnectionStatus> => Promise.resolve(answer);
  const connection = new Resource({ name: 'connection', fetch });
  connection.set(answer);
  const service = { connection, requests: {} } as unknown as ISvcService;
  const host = document.createElement('div');
  const root = createRoot(host);
  act(() => {
    root.render(<NotConnected service={service} trans={nullTranslator.load('')} />);
  });
  const copy = host.cloneNode(true) as HTMLElement;
  act(() => {
    root.unmount();
  });
  connection.dispose();
  return copy;
}

describe('NotConnected', () => {
  it('has a form for another service where an entered address is used', () => {
    expect(shown(null).querySelector('form')).not.toBeNull();
  });

  it('says what fixes the address in place of a form that cannot work', () => {
    const view = shown('SVC_BASE_URL');
    expect(view.querySelector('form')).toBeNull();
    expect(view.textContent).toContain(
      'SVC_BASE_URL in the environment of the Jupyter server sets the address. ' +
        'To use another service, change it there and restart the server.'
    );
  });
});
