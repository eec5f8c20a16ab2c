export { ServiceError, asServiceError } from './errors';
export { serviceEvents, type IServiceEvent } from './events';
export { CommandFollower, logLength } from './follower';
export { ServiceRequests, pathOf, type ICallOptions, type Query } from './requests';
export { Resource, type IResourceOptions, type IResourceState } from './resource';
export { useSignal } from './signals';
export { EXTENSION_ID, ISvcService, TRANSLATION_DOMAIN } from './tokens';
export { useNow, useResource, VisibleContext } from './visibility';
