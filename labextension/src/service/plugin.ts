import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import type { IConnectionStatus } from './records/connection';
import { ServiceRequests } from './requests';
import { Resource } from './resource';
import { EXTENSION_ID, ISvcService } from './tokens';

/** Provides the access to the service. */
export const servicePlugin: JupyterFrontEndPlugin<ISvcService> = {
  id: `${EXTENSION_ID}:service`,
  description: 'Calls of the data-processing service, through the Jupyter server.',
  autoStart: true,
  provides: ISvcService,
  activate: (app: JupyterFrontEnd): ISvcService => {
    const requests = new ServiceRequests(app.serviceManager.serverSettings);
    const connection = new Resource<IConnectionStatus>({
      name: 'connection',
      fetch: signal => requests.get<IConnectionStatus>('status', {}, signal),
      interval: 10_000,
      longestInterval: 30_000
    });
    return { requests, connection };
  }
};
