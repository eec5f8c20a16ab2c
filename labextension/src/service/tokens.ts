import { Token } from '@lumino/coreutils';
import type { IConnectionStatus } from './records/connection';
import type { ServiceRequests } from './requests';
import type { Resource } from './resource';

/** What all features share of the way to the service. */
export interface ISvcService {
  readonly requests: ServiceRequests;
  /** Which service, and as whom; read while the side panel can be seen. */
  readonly connection: Resource<IConnectionStatus>;
}

/** The way to the service. */
export const ISvcService = new Token<ISvcService>(
  'svc-jupyter-labextension:ISvcService',
  'Calls of the data-processing service, through the Jupyter server.'
);
