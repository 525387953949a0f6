// The words of the tables, in both languages of the docs.
export const WORDS = {
  en: {
    columns: ["template", "rows", "refused", "reasoning learnt", "replies", "arguments", "tools", "other text learnt"],
    kinds: {
      context: "rows without earlier reasoning",
      missed: "never learnt",
      again: "learnt again",
      lost: "rows with a text cut",
      twice: "encoded twice",
      "tools lost": "rows without",
      "tool learnt": "rows: results",
      "user learnt": "rows: the user",
      "system learnt": "rows: system prompt",
      "tool-list learnt": "rows: tools",
    },
    noted: "Left out or noted by the export",
    causes: "Causes",
  },
  zh: {
    columns: ["模板", "行数", "被拒", "学到的推理", "回复", "参数", "工具", "误学的其他文本"],
    kinds: {
      context: "行缺少先前的推理",
      missed: "个从未学到",
      again: "个重复学到",
      lost: "行有文本被截",
      twice: "个被编码两次",
      "tools lost": "行没有工具",
      "tool learnt": "行：结果",
      "user learnt": "行：用户",
      "system learnt": "行：系统提示",
      "tool-list learnt": "行：工具",
    },
    noted: "导出时略去或注明的",
    causes: "原因",
  },
};
