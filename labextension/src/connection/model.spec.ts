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
  message: 'the service is away'
};

describe('connectionLine', () => {
  it('tells as whom', () => {
    expect(connectionLine({ value: CONNECTED, isLoading: false }, trans)).toEqual({
      kind: 'connected',
      icon: '●',
      state: 'connected',
      words: ['ann@example.com', 'service.test'],
      details: 'https://service.test (address from the environment)'
    });
  });

  it('calls an address of this machine so', () => {
    const value = { ...CONNECTED, base_url: 'http://127.0.0.1:8000' };
    expect(connectionLine({ value, isLoading: false }, trans).words).toEqual([
      'ann@example.com',
      'this machine'
    ]);
  });

  it('tells that nothing is known yet', () => {
    expect(connectionLine({ isLoading: true }, trans).kind).toBe('looking');
  });

  it('never shows an older connection as one of now', () => {
    const error = new ServiceError('the Jupyter server does not answer', 0);
    expect(connectionLine({ value: CONNECTED, error, isLoading: false }, trans).state).toBe(
      'not connected'
    );
  });
});

describe('triedLines', () => {
  it('names the address, where it came from, and what came of it', () => {
    expect(triedLines({ value: REFUSED, isLoading: false }, trans)).toEqual([
      'https://service.test (address from the environment)',
      'The service is away'
    ]);
  });

  it('tells what to do about a token', () => {
    const value = { ...REFUSED, status: 401, message: 'the token is not known' };
    expect(triedLines({ value, isLoading: false }, trans).slice(1)).toEqual([
      'The service does not accept the token: the token is not known.',
      'Enter another one below, or correct it in the environment and read the settings again.'
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
