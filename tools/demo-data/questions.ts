/** The participants' languages, in the order of the answers below. */
export const languages = ['en', 'es', 'hi', 'ar', 'pt', 'sw'] as const;

/** An answer in each language. The English one is the translation of the others. */
type Answer = readonly [en: string, es: string, hi: string, ar: string, pt: string, sw: string];

export interface Question {
  ref: string;
  /** Its wording in the first version of the form and, if it has changed, in the second. */
  texts: readonly [string, string?];
  /** The possible answers or, if the answer is a number, the largest. */
  answers: readonly [Answer, ...Answer[]] | number;
}

const yes: Answer = ['Yes', 'Sí', 'हाँ', 'نعم', 'Sim', 'Ndiyo'];
const no: Answer = ['No', 'No', 'नहीं', 'لا', 'Não', 'Hapana'];

/** A choice that the question's text lists, since its label is too long for a button. */
const letter = (value: string): Answer => [value, value, value, value, value, value];

/** The questions of each form, by shortcode. Some answers have text that is hard to export: quotes, line breaks, emoji. */
export const questions: Record<string, readonly Question[]> = {
  healthstart: [
    {
      ref: 'consent',
      texts: ['Do you want to take part?', 'Do you want to take part? You can stop at any time.'],
      answers: [yes, yes, yes, no],
    },
    { ref: 'age', texts: ['How old are you?', 'How old are you, in years?'], answers: 94 },
    {
      ref: 'health',
      texts: ['All in all, how is your health?', 'How is your health, "all in all"?'],
      answers: [
        ['Very good', 'Muy buena', 'बहुत अच्छा', 'جيدة جدًا', 'Muito boa', 'Nzuri sana'],
        ['Good', 'Buena', 'अच्छा', 'جيدة', 'Boa', 'Nzuri'],
        ['Fair', 'Regular', 'ठीक-ठाक', 'مقبولة', 'Razoável', 'Wastani'],
        ['Poor', 'Mala', 'ख़राब', 'سيئة', 'Má', 'Mbaya'],
      ],
    },
    { ref: 'children', texts: ['How many children live with you?'], answers: 7 },
  ],
  healthfood: [
    {
      ref: 'breakfast',
      texts: ['What did you have for breakfast?', 'What did you have for breakfast today?\nWrite as much as you like.'],
      answers: [
        [
          'Tea, bread and eggs',
          'Café con leche, pan y huevos',
          'चाय, रोटी और अंडे',
          'شاي، خبز وبيض',
          'Café, pão e ovos',
          'Chai, mkate na mayai',
        ],
        ['Nothing ☹️', 'Nada ☹️', 'कुछ नहीं ☹️', 'لا شيء ☹️', 'Nada ☹️', 'Hakuna ☹️'],
        ['Fruit 🥭🍌', 'Fruta 🥭🍌', 'फल 🥭🍌', 'فاكهة 🥭🍌', 'Açaí e fruta 🥭🍌', 'Matunda 🥭🍌'],
        [
          'What we call "porridge"',
          'Lo que llamamos "avena"',
          'जिसे हम "दलिया" कहते हैं',
          'ما نسميه "عصيدة"',
          'O que chamamos "mingau"',
          'Tunachoita "uji"',
        ],
        [
          'Rice,\nbeans,\nand coffee',
          'Arroz,\nfrijoles\ny café',
          'चावल,\nदाल\nऔर कॉफ़ी',
          'أرز،\nفول\nوقهوة',
          'Arroz,\nfeijão\ne café',
          'Wali,\nmaharagwe\nna kahawa',
        ],
      ],
    },
    { ref: 'fruit', texts: ['How many pieces of fruit did you eat yesterday?'], answers: 6 },
    {
      ref: 'water',
      texts: [
        'Where does your drinking water come from?\n- A. A tap at home\n- B. A well or a pump nearby\n- C. A river, a lake or rain',
        'Where does your drinking water come from, on most days?\nA) A tap at home\nB) A well or a pump nearby\nC) A river, a lake or rain',
      ],
      answers: [letter('A'), letter('B'), letter('C')],
    },
    { ref: 'meals', texts: ['How many meals did you have yesterday?'], answers: 5 },
  ],
  healthlater: [
    {
      ref: 'change',
      texts: ['What has changed since we last wrote?', 'Since we last wrote, what has changed?'],
      answers: [
        ['A lot!', '¡Mucho!', 'बहुत कुछ!', 'الكثير!', 'Muita coisa!', 'Mengi!'],
        [
          'I moved; now I live by the sea 🌊',
          'Me mudé; ahora vivo junto al mar 🌊',
          'मैं अब समुद्र के पास रहती हूँ 🌊',
          'انتقلت؛ أعيش الآن قرب البحر 🌊',
          'Mudei; agora moro perto do mar 🌊',
          'Nilihama; sasa naishi karibu na bahari 🌊',
        ],
        [
          'We have a baby 👩‍👩‍👧',
          'Tenemos un bebé 👩‍👩‍👧',
          'हमारे घर बच्चा हुआ 👩‍👩‍👧',
          'رزقنا بطفل 👩‍👩‍👧',
          'Temos um bebê 👩‍👩‍👧',
          'Tumepata mtoto 👩‍👩‍👧',
        ],
        ['', '', '', '', '', ''],
      ],
    },
    { ref: 'again', texts: ['May we write to you again?'], answers: [yes, yes, no] },
    { ref: 'recommend', texts: ['From 0 to 10: would you recommend us?'], answers: 10 },
  ],
};
