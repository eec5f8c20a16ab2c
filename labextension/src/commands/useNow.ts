import { useContext, useEffect, useState } from 'react';
import { VisibleContext } from '../service';

/** Return the time, each second anew while `runs` holds and the component can be seen. */
export function useNow(runs: boolean): Date {
  const visible = useContext(VisibleContext);
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    setNow(new Date());
    if (!runs || !visible) {
      return;
    }
    const timer = setInterval(() => setNow(new Date()), 1_000);
    return () => clearInterval(timer);
  }, [runs, visible]);
  return now;
}
