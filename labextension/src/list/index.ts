export { VirtualList, type IVirtualListProps } from './virtualList';
export { EmptyState, ErrorState, LoadingState } from './states';
