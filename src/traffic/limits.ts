/** The bounds of the traffic room's answers, each with its reason. */

/** Values that a division of traffic lists by name; the others are summed. What a chart can show apart by colour. */
export const MAX_DIVISION_VALUES = 10;
/** Shadow changes that one rule lists, those with the most requests; their sum covers all. */
export const MAX_RULE_CHANGES = 20;
/** Rules without a stored row that an answer lists, those with the most hits. */
export const MAX_REMOVED_RULES = 100;
/** Characters of the text by which people recognise a rule: what a line of a terminal has room for. */
export const MAX_ABOUT_CHARACTERS = 60;
