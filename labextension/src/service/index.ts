export { ServiceError, asServiceError } from './errors';
export { serviceEvents, type IServiceEvent } from './events';
export { CommandFollower } from './follower';
export { ServiceRequests, pathOf, type ICallOptions, type Query } from './requests';
export { Resource, type IResourceOptions, type IResourceState } from './resource';
export { ISvcService } from './tokens';
export { EXTENSION_ID, TRANSLATION_DOMAIN } from './translation';
export { useResource } from './useResource';
export { VisibleContext } from './visibility';
