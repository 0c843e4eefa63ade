/** How an application behaves, as data: which requests its users send, and what each service does with one. */
export interface Behaviour {
  /** Replaced by the traffic engine's own, fuller type. */
  services: Record<string, unknown>;
}
