export { type ITreeRow, TreeLine, TreeList } from './tree';
export { VirtualList, type IVirtualListProps } from './virtualList';
export { EmptyState, ErrorState, LoadingState } from './states';
export { type ITwoLinesProps, type Tone, TWO_LINES, TwoLines } from './twoLines';
