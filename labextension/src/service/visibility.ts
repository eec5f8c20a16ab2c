import { createContext } from 'react';

/** Whether what a component belongs to can be seen. Panels provide it; `useResource` reads it. */
export const VisibleContext = createContext(true);
