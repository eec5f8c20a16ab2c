import { Token } from '@lumino/coreutils';
import type { IConnectionStatus } from './records/connection';
import type { ServiceRequests } from './requests';
import type { Resource } from './resource';

/** Access to the service, shared by all features. */
export interface ISvcService {
  readonly requests: ServiceRequests;
  /** The service and the user; read while the side panel is visible. */
  readonly connection: Resource<IConnectionStatus>;
}

/** Access to the service. */
export const ISvcService = new Token<ISvcService>(
  'svc-jupyter-labextension:ISvcService',
  'Calls of the data-processing service, through the Jupyter server.'
);

/** Translation domain of this extension's texts: `translator.load(TRANSLATION_DOMAIN)`. */
export const TRANSLATION_DOMAIN = 'svc_jupyter';

/** Prefix of the ids of all plugins and of the settings. */
export const EXTENSION_ID = 'svc-jupyter-labextension';
