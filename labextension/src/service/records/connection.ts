import type { Schemas } from './contract';

/** The service's account and the caller's user. */
export type IAccount = Schemas['Account'];

/** Answer of `GET status`: the service that the Jupyter server uses. */
export interface IConnectionStatus {
  connected: boolean;
  base_url: string | null;
  /** The source of the address: a setting, the environment, a profile, or the embedded service. */
  source: string | null;
  /** Where the token was found: as `source`; null for the embedded service. */
  token_source: string | null;
  /** The setting that fixes the address, so that no other can be entered; null where one can. */
  fixed_by: 'SvcJupyterServer.service_url' | 'SVC_BASE_URL' | 'SVC_CONNECTION_FILE' | null;
  account: IAccount | null;
  /** Why there is no connection, or null. */
  message: string | null;
  /** The status of the service's refusal; absent where it was not reached. */
  status?: number;
}
