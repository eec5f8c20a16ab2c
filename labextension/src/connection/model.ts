import type { TranslationBundle } from '@jupyterlab/translation';
import type { IResourceState } from '../service';
import type { IConnectionStatus } from '../service/records/connection';

/** The connection in one line. */
export interface IConnectionLine {
  kind: 'connected' | 'missing' | 'looking';
  icon: string;
  /** `connected`, `not connected`. */
  state: string;
  /** Who and where: `ann@example.com`, `this machine`; empty without a connection. */
  words: readonly string[];
  /** Address and where it came from. */
  details: string;
}

/** The status of an answer to a wrong, expired or disabled token. */
const UNAUTHORIZED = 401;

/** The server's name for the embedded service as the source of an address. */
const EMBEDDED = 'embedded service';

/** The server's name for the environment as the source of an address or a token. */
const ENVIRONMENT = 'the environment';

/** Return the line at the top of the panel. */
export function connectionLine(
  state: IResourceState<IConnectionStatus>,
  trans: TranslationBundle
): IConnectionLine {
  const { value, error } = state;
  const details = addressOf(value, trans);
  if (value?.connected === true && error === undefined) {
    const who = value.account?.email ?? trans.__('unknown user');
    const words = [who, placeOf(value, trans)].filter(Boolean);
    return { kind: 'connected', icon: '●', state: trans.__('connected'), words, details };
  }
  if (value === undefined && error === undefined) {
    const state = trans.__('looking for the service');
    return { kind: 'looking', icon: '◐', state, words: [], details };
  }
  return { kind: 'missing', icon: '○', state: trans.__('not connected'), words: [], details };
}

/** The names of this machine in addresses. */
const THIS_MACHINE = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Return where the service runs: `this machine`, or the host's name. */
function placeOf(status: IConnectionStatus, trans: TranslationBundle): string {
  const host =
    status.base_url !== null && URL.canParse(status.base_url)
      ? new URL(status.base_url).hostname
      : '';
  const isHere = status.source === EMBEDDED || THIS_MACHINE.has(host);
  return isHere ? trans.__('this machine') : host;
}

/** Return the connection attempt and its failure, for the view that replaces the sections. */
export function triedLines(
  state: IResourceState<IConnectionStatus>,
  trans: TranslationBundle
): string[] {
  const { value, error } = state;
  if (error !== undefined) {
    return [trans.__('The Jupyter server was asked: %1', error.message)];
  }
  const lines = value === undefined ? [] : [addressOf(value, trans), ...failureOf(value, trans)];
  return lines.filter(line => line !== '');
}

/** Return why there is no connection, and what to do about a token. */
function failureOf(attempt: IConnectionStatus, trans: TranslationBundle): string[] {
  const why = attempt.message ?? '';
  if (attempt.status !== UNAUTHORIZED) {
    return [why.charAt(0).toUpperCase() + why.slice(1)];
  }
  const { token_source: source } = attempt;
  const token = source === ENVIRONMENT ? 'SVC_API_TOKEN' : (source ?? EMBEDDED);
  const refused = trans.__('The token of %1 is refused: %2.', token, why.replace(/\.$/, ''));
  return [refused, tokenAdvice(attempt, trans)];
}

/** Return where to change a refused token. */
function tokenAdvice(attempt: IConnectionStatus, trans: TranslationBundle): string {
  const { token_source: source, fixed_by: fixedBy } = attempt;
  if (source === ENVIRONMENT) {
    return trans.__(
      'Change SVC_API_TOKEN in the environment of the Jupyter server and restart the server.'
    );
  }
  if (source === null || fixedBy === 'SVC_CONNECTION_FILE') {
    return '';
  }
  return fixedBy === null
    ? trans.__('Enter another one below, or correct it in %1 and read the settings again.', source)
    : trans.__('Correct it in %1 and read the settings again.', source);
}

/** Return what fixes the address and where to change it; null where another one can be entered. */
export function fixedAddress(
  { value }: IResourceState<IConnectionStatus>,
  trans: TranslationBundle
): string | null {
  switch (value?.fixed_by) {
    case 'SVC_BASE_URL':
      return trans.__(
        'SVC_BASE_URL in the environment of the Jupyter server sets the address. To use another service, change it there and restart the server.'
      );
    case 'SvcJupyterServer.service_url':
      return trans.__(
        'SvcJupyterServer.service_url in the configuration of the Jupyter server sets the address. To use another service, change it there and restart the server.'
      );
    case 'SVC_CONNECTION_FILE':
      return trans.__(
        'The run of a notebook started this Jupyter server and sets the address (SVC_CONNECTION_FILE).'
      );
    default:
      return null;
  }
}

function addressOf(status: IConnectionStatus | undefined, trans: TranslationBundle): string {
  if (status === undefined || status.source === null) {
    return '';
  }
  return status.base_url === null || status.source === EMBEDDED
    ? trans.__('The service of this machine')
    : trans.__('%1 (address from %2)', status.base_url, sourceOf(status, trans) ?? '');
}

/** Return the source of the address; the server calls its own configuration its arguments. */
function sourceOf(status: IConnectionStatus, trans: TranslationBundle): string | null {
  return status.fixed_by === 'SvcJupyterServer.service_url'
    ? trans.__('the configuration of the Jupyter server')
    : status.source;
}

/** Return whether the embedded service was tried. */
export function isOfThisMachine(state: IResourceState<IConnectionStatus>): boolean {
  return state.value?.source === EMBEDDED;
}
