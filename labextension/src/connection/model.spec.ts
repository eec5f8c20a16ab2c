import { nullTranslator } from '@jupyterlab/translation';
import { ServiceError } from '../service';
import type { IConnectionStatus } from '../service/records/connection';
import { connectionLine, fixedAddress, isOfThisMachine, triedLines } from './model';

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
  token_source: 'the environment',
  fixed_by: 'SVC_BASE_URL',
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

  it('tells which token is refused and where it is changed', () => {
    const value = { ...REFUSED, status: 401, message: 'the token is not known' };
    expect(triedLines({ value, isLoading: false }, trans).slice(1)).toEqual([
      'The token of SVC_API_TOKEN is refused: the token is not known.',
      'Change SVC_API_TOKEN in the environment of the Jupyter server and restart the server.'
    ]);
  });

  it('offers to enter another token only where it would be used', () => {
    const value = { ...REFUSED, status: 401, token_source: 'profile default of config.toml' };
    const advice = (fixed_by: IConnectionStatus['fixed_by']): string | undefined =>
      triedLines({ value: { ...value, fixed_by }, isLoading: false }, trans)[2];
    expect(advice(null)).toBe(
      'Enter another one below, or correct it in profile default of config.toml and read the settings again.'
    );
    expect(advice('SVC_BASE_URL')).toBe(
      'Correct it in profile default of config.toml and read the settings again.'
    );
    expect(advice('SVC_CONNECTION_FILE')).toBeUndefined();
  });

  it('tells when it is the Jupyter server that is away', () => {
    const error = new ServiceError('the Jupyter server does not answer', 0);
    expect(triedLines({ value: REFUSED, error, isLoading: false }, trans)).toEqual([
      'The Jupyter server was asked: the Jupyter server does not answer'
    ]);
  });

  it('names the server’s configuration as the source of an address', () => {
    const value: IConnectionStatus = {
      ...REFUSED,
      source: 'the arguments',
      fixed_by: 'SvcJupyterServer.service_url'
    };
    expect(triedLines({ value, isLoading: false }, trans)[0]).toBe(
      'https://service.test (address from the configuration of the Jupyter server)'
    );
  });

  it('knows this machine’s service', () => {
    const value = { ...REFUSED, base_url: null, source: 'embedded service' };
    expect(isOfThisMachine({ value, isLoading: false })).toBe(true);
    expect(triedLines({ value, isLoading: false }, trans)[0]).toBe('The service of this machine');
  });
});

describe('fixedAddress', () => {
  it.each([
    ['SVC_BASE_URL', /^SVC_BASE_URL in the environment of the Jupyter server sets the address\./],
    [
      'SvcJupyterServer.service_url',
      /^SvcJupyterServer.service_url in the configuration of the Jupyter server sets the address\./
    ],
    ['SVC_CONNECTION_FILE', /^The run of a notebook started this Jupyter server/]
  ] as const)('says what fixes it and where: %s', (fixed_by, words) => {
    const value = { ...REFUSED, fixed_by };
    expect(fixedAddress({ value, isLoading: false }, trans)).toMatch(words);
  });

  it('is none where an address can be entered', () => {
    const value = { ...REFUSED, fixed_by: null };
    expect(fixedAddress({ value, isLoading: false }, trans)).toBeNull();
  });
});
