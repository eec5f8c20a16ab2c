/** Where a page of a list stands; the page numbers count from 1. */
export interface IPagingInfo {
  page: number;
  per_page: number;
  next_page: number | null;
  previous_page: number | null;
}
