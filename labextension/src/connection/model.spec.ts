import { nullTranslator } from '@jupyterlab/translation';
import { ServiceError } from '../service';
import type { IConnectionStatus } from '../service/records/connection';
import { connectionLine, isOfThisMachine, triedLines } from './model';

const trans = nullTranslator.load('');
const ACCOUNT = {
  id: 1,
  name: 'team',
  user_id: 2,
  email: 'ann@example.com',
  groups: [],
  features: {},
  storage_url: 'file:///srv/storage',
  concurrent_command_limit: 10
};
const CONNECTED: IConnectionStatus = {
  connected: true,
  base_url: 'https://service.test',
  source: 'the environment',
  account: ACCOUNT,
  message: null
};
const REFUSED: IConnectionStatus = {
  ...CONNECTED,
  connected: false,
  account: null,
  message: 'the token is wrong'
};

describe('connectionLine', () => {
  it('tells as whom', () => {
    expect(connectionLine({ value: CONNECTED, isLoading: false }, trans)).toEqual({
      kind: 'connected',
      icon: '●',
      words: 'connected · ann@example.com',
      details: 'https://service.test (address from the environment)'
    });
  });

  it('tells that nothing is known yet', () => {
    expect(connectionLine({ isLoading: true }, trans).kind).toBe('looking');
  });

  it('never shows an older connection as one of now', () => {
    const error = new ServiceError('the Jupyter server does not answer', 0);
    expect(connectionLine({ value: CONNECTED, error, isLoading: false }, trans).words).toBe(
      'not connected'
    );
  });
});

describe('triedLines', () => {
  it('names the address, where it came from, and what came of it', () => {
    expect(triedLines({ value: REFUSED, isLoading: false }, trans)).toEqual([
      'https://service.test (address from the environment)',
      'the token is wrong'
    ]);
  });

  it('tells when it is the Jupyter server that is away', () => {
    const error = new ServiceError('the Jupyter server does not answer', 0);
    expect(triedLines({ value: REFUSED, error, isLoading: false }, trans)).toEqual([
      'The Jupyter server was asked: the Jupyter server does not answer'
    ]);
  });

  it('knows this machine’s service', () => {
    const value = { ...REFUSED, base_url: null, source: 'embedded service' };
    expect(isOfThisMachine({ value, isLoading: false })).toBe(true);
    expect(triedLines({ value, isLoading: false }, trans)[0]).toBe('The service of this machine');
  });
});
