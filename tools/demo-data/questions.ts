/** The participants' languages, in the order of the answers below. */
export const languages = ['en', 'es', 'hi', 'ar', 'pt', 'sw'] as const;

/** An answer in each language. The English one is the translation of the others. */
type Answer = readonly [en: string, es: string, hi: string, ar: string, pt: string, sw: string];

/** Possible answers, the more frequent ones several times. A text is the same in all languages. */
type Answers = readonly [Answer | string, ...(Answer | string)[]];

export interface Question {
  ref: string;
  /** Its wording in the first version of the form and, if it has changed, in the second. */
  texts: readonly [string, string?];
  answers: Answers;
  /** Those of the second of two treatment arms, if they differ. */
  arm2?: Answers;
}

const yes: Answer = ['Yes', 'Sí', 'हाँ', 'نعم', 'Sim', 'Ndiyo'];
const no: Answer = ['No', 'No', 'नहीं', 'لا', 'Não', 'Hapana'];

/** Answers, each as often as its weight. */
const weighted = (weights: readonly number[], answers: readonly (Answer | string)[]) =>
  answers.flatMap((answer, i) =>
    Array<typeof answer>(weights[i] ?? 1).fill(answer),
  ) as unknown as Answers;

/** Whole numbers from 0. */
const numbers = (...weights: readonly number[]) =>
  weighted(
    weights,
    weights.map((_, number) => String(number)),
  );

/** Mostly young adults; a few numbers are odd. */
const ages = [
  ...Array.from({ length: 180 }, (_, n) => String(18 + Math.round(62 * (n / 179) ** 1.6))),
  ...['2', '99', '112'],
] as unknown as Answers;

/** Answers, from a list of them in each language. */
const table = (weights: readonly number[], ...lists: readonly (readonly string[])[]) =>
  weighted(
    weights,
    (lists[0] ?? []).map((_, row) => lists.map((list) => list[row]) as unknown as Answer),
  );

/**
 * The questions of each form, by shortcode. Some answers have text that is hard to export: quotes,
 * line breaks, emoji.
 */
export const questions: Record<string, readonly Question[]> = {
  healthstart: [
    {
      ref: 'consent',
      texts: ['Do you want to take part?', 'Do you want to take part? You can stop at any time.'],
      answers: weighted([8, 1], [yes, no]),
    },
    { ref: 'age', texts: ['How old are you?', 'How old are you, in years?'], answers: ages },
    {
      ref: 'health',
      texts: ['All in all, how is your health?', 'How is your health, "all in all"?'],
      answers: table(
        [3, 6, 4, 1],
        ['Very good', 'Good', 'Fair', 'Poor'],
        ['Muy buena', 'Buena', 'Regular', 'Mala'],
        ['बहुत अच्छा', 'अच्छा', 'ठीक-ठाक', 'ख़राब'],
        ['جيدة جدًا', 'جيدة', 'مقبولة', 'سيئة'],
        ['Muito boa', 'Boa', 'Razoável', 'Má'],
        ['Nzuri sana', 'Nzuri', 'Wastani', 'Mbaya'],
      ),
    },
    {
      ref: 'children',
      texts: ['How many children live with you?'],
      answers: numbers(8, 9, 10, 6, 3, 1, 1, 1),
    },
  ],
  healthfood: [
    {
      ref: 'breakfast',
      texts: [
        'What did you have for breakfast?',
        'What did you have for breakfast today?\nWrite as much as you like.',
      ],
      answers: table(
        [9, 5, 6, 2, 7, 4, 3],
        [
          'Tea, bread and eggs',
          'Nothing ☹️',
          'Fruit 🥭🍌',
          'What we call "porridge"',
          'Rice,\nbeans,\nand coffee',
          'Coffee',
          'Yoghurt',
        ],
        [
          'Café con leche, pan y huevos',
          'Nada ☹️',
          'Fruta 🥭🍌',
          'Lo que llamamos "avena"',
          'Arroz,\nfrijoles\ny café',
          'Café',
          'Yogur',
        ],
        [
          'चाय, रोटी और अंडे',
          'कुछ नहीं ☹️',
          'फल 🥭🍌',
          'जिसे हम "दलिया" कहते हैं',
          'चावल,\nदाल\nऔर कॉफ़ी',
          'कॉफ़ी',
          'दही',
        ],
        [
          'شاي، خبز وبيض',
          'لا شيء ☹️',
          'فاكهة 🥭🍌',
          'ما نسميه "عصيدة"',
          'أرز،\nفول\nوقهوة',
          'قهوة',
          'زبادي',
        ],
        [
          'Café, pão e ovos',
          'Nada ☹️',
          'Açaí e fruta 🥭🍌',
          'O que chamamos "mingau"',
          'Arroz,\nfeijão\ne café',
          'Café',
          'Iogurte',
        ],
        [
          'Chai, mkate na mayai',
          'Hakuna ☹️',
          'Matunda 🥭🍌',
          'Tunachoita "uji"',
          'Wali,\nmaharagwe\nna kahawa',
          'Kahawa',
          'Mtindi',
        ],
      ),
    },
    {
      ref: 'fruit',
      texts: ['How many pieces of fruit did you eat yesterday?'],
      answers: [...numbers(14, 20, 16, 8, 4, 2, 1), 'a bowl'],
    },
    {
      ref: 'water',
      texts: [
        'Where does your drinking water come from?\n- A. A tap at home\n- B. A well or a pump nearby\n- C. A river, a lake or rain',
        'Where does your drinking water come from, on most days?\nA) A tap at home\nB) A well or a pump nearby\nC) A river, a lake or rain',
      ],
      answers: weighted([7, 4, 2], ['A', 'B', 'C']),
    },
    {
      ref: 'meals',
      texts: ['How many meals did you have yesterday?'],
      answers: numbers(1, 3, 9, 14, 4, 1),
    },
  ],
  healthlater: [
    {
      ref: 'change',
      texts: ['What has changed since we last wrote?', 'Since we last wrote, what has changed?'],
      answers: table(
        [60, 20, 12, 40, 2, 2, 2],
        [
          'A lot!',
          'I moved; now I live by the sea 🌊',
          'We have a baby 👩‍👩‍👧',
          '',
          'I work at night now',
          'My sister lives with us',
          'I drink less coffee',
        ],
        [
          '¡Mucho!',
          'Me mudé; ahora vivo junto al mar 🌊',
          'Tenemos un bebé 👩‍👩‍👧',
          '',
          'Ahora trabajo de noche',
          'Mi hermana vive con nosotros',
          'Bebo menos café',
        ],
        [
          'बहुत कुछ!',
          'मैं अब समुद्र के पास रहती हूँ 🌊',
          'हमारे घर बच्चा हुआ 👩‍👩‍👧',
          '',
          'मैं अब रात में काम करती हूँ',
          'मेरी बहन हमारे साथ रहती है',
          'मैं कम कॉफ़ी पीती हूँ',
        ],
        [
          'الكثير!',
          'انتقلت؛ أعيش الآن قرب البحر 🌊',
          'رزقنا بطفل 👩‍👩‍👧',
          '',
          'أعمل الآن ليلًا',
          'أختي تعيش معنا',
          'أشرب قهوة أقل',
        ],
        [
          'Muita coisa!',
          'Mudei; agora moro perto do mar 🌊',
          'Temos um bebê 👩‍👩‍👧',
          '',
          'Agora trabalho à noite',
          'Minha irmã mora conosco',
          'Bebo menos café',
        ],
        [
          'Mengi!',
          'Nilihama; sasa naishi karibu na bahari 🌊',
          'Tumepata mtoto 👩‍👩‍👧',
          '',
          'Sasa nafanya kazi usiku',
          'Dada yangu anaishi nasi',
          'Nakunywa kahawa kidogo',
        ],
      ),
    },
    {
      ref: 'again',
      texts: ['May we write to you again?'],
      answers: weighted([3, 2], [yes, no]),
      arm2: weighted([6, 1], [yes, no]),
    },
    {
      ref: 'recommend',
      texts: ['From 0 to 10: would you recommend us?'],
      answers: numbers(2, 1, 1, 2, 2, 5, 4, 6, 6, 3, 2),
      arm2: numbers(0, 0, 1, 1, 1, 3, 3, 6, 9, 8, 6),
    },
  ],
};
