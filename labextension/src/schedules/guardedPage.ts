/** Under it nothing in a page runs, and nothing is loaded from elsewhere. */
const POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:";

/**
 * Return a page with the policy in front of whatever it says itself. The parser takes the first head and goes on with
 * what the page's own head holds.
 */
export function guarded(page: string): string {
  return `<!DOCTYPE html><html><head><meta http-equiv="Content-Security-Policy" content="${POLICY}"></head>${page}`;
}
