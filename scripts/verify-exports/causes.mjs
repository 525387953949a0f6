export const CAUSES = [];
