/** What generated schemas say. */

/** A schema, as far as these are generated. */
export interface Schema {
  type?: string;
  /** What all questions check in the same way. */
  is?: string;
  /** A named type. */
  ref?: string;
  types?: readonly string[];
  enum?: readonly string[];
  const?: unknown;
  items?: Schema;
  properties?: Record<string, Schema>;
  isNullable?: boolean;
  isOptional?: boolean;
  isRequired?: boolean;
  description?: string;
  default?: unknown;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  maxLength?: number;
}
