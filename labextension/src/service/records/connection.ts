/** The service's account, as far as it is shown. */
export interface IAccount {
  id: number;
  name: string;
  user_id: number;
  email: string;
  features: Record<string, boolean>;
}

/** Answer of `GET status`: which service the Jupyter server speaks to. */
export interface IConnectionStatus {
  connected: boolean;
  base_url: string | null;
  /** Where the address came from: a setting, the environment, a profile, this machine's own service. */
  source: string | null;
  account: IAccount | null;
  /** Why there is no connection; null when there is. */
  message: string | null;
}
