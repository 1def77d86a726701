/** Bounds on what a request body may make of itself. */

/**
 * Arguments, files, part headers and attribute values of one body, each kind by itself. ModSecurity's recommended
 * settings stop at 1,000; large spreadsheets and imports do send some thousands, and each is inspected by itself.
 */
export const MAX_BODY_ARGUMENTS = 10_000;

/** Containers inside one another in JSON: what ModSecurity's recommended settings allow. */
export const MAX_JSON_DEPTH = 512;

/**
 * Octets of all argument names of a JSON body together. A name repeats the keys around its value, so 512 levels of
 * long keys would make hundreds of megabytes of a body of one; ten thousand ordinary names take a quarter of this.
 */
export const MAX_JSON_NAME_OCTETS = 2_097_152;

/** Elements inside one another in XML: libxml2's own bound. */
export const MAX_XML_DEPTH = 256;

/** Octets of one header line of a part, its folded lines included: ModSecurity's buffer. */
export const MAX_PART_HEADER_OCTETS = 4_096;

/** Octets of the `Content-Type` of a multipart body: ModSecurity's bound. */
export const MAX_CONTENT_TYPE_OCTETS = 1_024;
