/* A recursive-descent evaluator in intmax_t and uintmax_t that pulls its lexemes from the expander,
 * one ahead at most: the operand of `defined`, wherever that came from, is read unexpanded. */
#include "lang/condition.h"

#include "lang/literal.h"

#include <string.h>

enum { MAX_DEPTH = 200 };

typedef struct number {
    uint64_t v;
    bool is_unsigned;
} number;

typedef struct evaluator {
    rg_expander *ex;
    const char *directive;
    rg_lexeme t; /* the one ahead */
    rg_loc last; /* of the one before */
    uint32_t depth;
    uint32_t dead; /* inside operands that are not evaluated: 1 / 0 is no error there */
    bool failed;
} evaluator;

static number evaluate_conditional(evaluator *e);

static void advance(evaluator *e) {
    if (e->failed)
        return;
    e->last = e->t.loc;
    e->t = rg_macro_next(e->ex);
}

/* Only the first error counts: what follows it is noise. */
static number fail(evaluator *e, rg_loc loc, const char *hint, const char *message) {
    if (!e->failed && !e->ex->stop)
        rg_error(e->ex->diags, loc ? loc : e->last, hint, "%s", message);
    e->failed = true;
    e->t = (rg_lexeme){.kind = RG_LEX_END};
    return (number){0, false};
}

static bool at(const evaluator *e, const char *punct) {
    return e->t.kind == RG_LEX_PUNCT && strcmp(e->t.name->text, punct) == 0;
}

static number truth(bool b) {
    return (number){b, false};
}

/* defined X, defined(X) */
static number evaluate_defined(evaluator *e) {
    rg_lexeme t = rg_macro_next_raw(e->ex);
    bool paren = rg_lexeme_is(t, '(');
    if (paren)
        t = rg_macro_next_raw(e->ex);
    if (t.kind != RG_LEX_IDENT)
        return fail(e, t.loc ? t.loc : e->t.loc, "write defined(NAME)",
                    "'defined' needs the name of a macro");
    bool is_defined = t.name->macro != NULL;
    e->last = t.loc;
    if (paren && !rg_lexeme_is(rg_macro_next_raw(e->ex), ')'))
        return fail(e, t.loc, "write defined(NAME)", "missing ')' after 'defined'");
    advance(e);
    return truth(is_defined);
}

static number evaluate_literal(evaluator *e) {
    rg_token t = {.kind = RG_TOK_INT};
    const char *spelling = e->t.name->text;
    bool is_char = e->t.kind == RG_LEX_CHAR;
    rg_literal_fault f = is_char ? rg_literal_char(e->ex->arena, spelling, &t)
                                 : rg_literal_number(e->ex->arena, spelling, &t);
    if (f.message && !f.is_warning)
        return fail(e, e->t.loc, f.hint, f.message);
    if (t.kind == RG_TOK_FLOAT)
        return fail(e, e->t.loc, "compare integers",
                    rg_format(e->ex->arena, "floating constant in #%s", e->directive));
    /* Every integer is as wide as intmax_t here: only a u, or the 64th bit, makes it unsigned. */
    bool is_unsigned = is_char ? t.is_unsigned : strpbrk(spelling, "uU") || t.i > INT64_MAX;
    advance(e);
    return (number){t.i, is_unsigned};
}

static number evaluate_name(evaluator *e) {
    if (strcmp(e->t.name->text, "defined") == 0)
        return evaluate_defined(e);
    rg_lexeme name = e->t;
    advance(e);
    if (at(e, "("))
        return fail(e, name.loc, "test with #ifdef first",
                    rg_format(e->ex->arena, "'%s' is called in #%s, but is not a macro",
                              name.name->text, e->directive));
    return (number){0, false}; /* C11 6.10.1 p. 4: other names are 0 */
}

/* ( conditional ) | - + ~ ! unary | name | literal */
static number evaluate_unary(evaluator *e) {
    if (e->t.kind == RG_LEX_IDENT)
        return evaluate_name(e);
    if (e->t.kind == RG_LEX_NUMBER || e->t.kind == RG_LEX_CHAR)
        return evaluate_literal(e);
    if (e->t.kind == RG_LEX_END || e->t.kind == RG_LEX_EMPTY)
        return fail(e, 0, NULL,
                    rg_format(e->ex->arena, "#%s ends where a value is missing", e->directive));
    char op = e->t.kind == RG_LEX_PUNCT && e->t.name->size == 1 ? e->t.name->text[0] : 0;
    if (!op || !strchr("(+-~!", op))
        return fail(e, e->t.loc, "use integers, 'defined' and operators",
                    rg_format(e->ex->arena, "'%s' where a value is missing in #%s", e->t.name->text,
                              e->directive));
    rg_loc loc = e->t.loc;
    if (e->depth >= MAX_DEPTH)
        return fail(e, loc, NULL, "the expression is nested too deeply");
    e->depth++;
    advance(e);
    number n;
    if (op == '(') {
        n = evaluate_conditional(e);
        if (!e->failed && !at(e, ")"))
            return fail(e, loc, NULL, rg_format(e->ex->arena, "missing ')' in #%s", e->directive));
        advance(e);
    } else {
        n = evaluate_unary(e);
        if (op == '-')
            n.v = 0 - n.v;
        else if (op == '~')
            n.v = ~n.v;
        else if (op == '!')
            n = truth(n.v == 0);
    }
    e->depth--;
    return n;
}

typedef enum operation {
    OR_ELSE,
    AND_ALSO,
    OR,
    XOR,
    AND,
    EQUAL,
    DIFFERENT,
    LESS,
    GREATER,
    AT_MOST,
    AT_LEAST,
    LEFT,
    RIGHT,
    PLUS,
    MINUS,
    TIMES,
    DIVIDE,
    MODULO,
    N_OPERATIONS
} operation;

static const struct {
    const char *spelling;
    int level; /* higher binds tighter */
} operations[N_OPERATIONS] = {
    [OR_ELSE] = {"||", 1}, [AND_ALSO] = {"&&", 2}, [OR] = {"|", 3},         [XOR] = {"^", 4},
    [AND] = {"&", 5},      [EQUAL] = {"==", 6},    [DIFFERENT] = {"!=", 6}, [LESS] = {"<", 7},
    [GREATER] = {">", 7},  [AT_MOST] = {"<=", 7},  [AT_LEAST] = {">=", 7},  [LEFT] = {"<<", 8},
    [RIGHT] = {">>", 8},   [PLUS] = {"+", 9},      [MINUS] = {"-", 9},      [TIMES] = {"*", 10},
    [DIVIDE] = {"/", 10},  [MODULO] = {"%", 10}};

static operation operation_ahead(const evaluator *e) {
    for (operation op = 0; op < N_OPERATIONS; op++)
        if (at(e, operations[op].spelling))
            return op;
    return N_OPERATIONS;
}

/* Shifts by too much, or backwards, do what gcc's preprocessor does. */
static number shift(number a, number b, bool left) {
    uint64_t by = b.v;
    if (!b.is_unsigned && (int64_t)b.v < 0) {
        left = !left;
        by = 0 - by;
    }
    bool negative = !a.is_unsigned && (int64_t)a.v < 0;
    if (by >= 64)
        a.v = !left && negative ? UINT64_MAX : 0;
    else if (left)
        a.v <<= by;
    else
        a.v = negative ? ~(~a.v >> by) : a.v >> by;
    return a;
}

static number divide(evaluator *e, rg_loc loc, number a, number b, bool modulo) {
    if (b.v == 0) {
        if (!e->dead)
            return fail(e, loc, NULL,
                        rg_format(e->ex->arena, "division by zero in #%s", e->directive));
        return a;
    }
    if (a.is_unsigned || b.is_unsigned)
        return (number){modulo ? a.v % b.v : a.v / b.v, true};
    if (b.v == UINT64_MAX) /* -1, and INT64_MIN / -1 overflows */
        return (number){modulo ? 0 : 0 - a.v, false};
    int64_t x = (int64_t)a.v, y = (int64_t)b.v;
    return (number){(uint64_t)(modulo ? x % y : x / y), false};
}

static number apply(evaluator *e, rg_loc loc, operation op, number a, number b) {
    bool is_unsigned = a.is_unsigned || b.is_unsigned;
    /* Flipping the top bit turns the signed order into the unsigned one. */
    uint64_t flip = is_unsigned ? 0 : (uint64_t)1 << 63;
    switch (op) {
    case OR_ELSE:
        return truth(a.v || b.v);
    case AND_ALSO:
        return truth(a.v && b.v);
    case OR:
        return (number){a.v | b.v, is_unsigned};
    case XOR:
        return (number){a.v ^ b.v, is_unsigned};
    case AND:
        return (number){a.v & b.v, is_unsigned};
    case EQUAL:
        return truth(a.v == b.v);
    case DIFFERENT:
        return truth(a.v != b.v);
    case LESS:
        return truth((a.v ^ flip) < (b.v ^ flip));
    case GREATER:
        return truth((a.v ^ flip) > (b.v ^ flip));
    case AT_MOST:
        return truth((a.v ^ flip) <= (b.v ^ flip));
    case AT_LEAST:
        return truth((a.v ^ flip) >= (b.v ^ flip));
    case LEFT:
    case RIGHT:
        return shift(a, b, op == LEFT);
    case PLUS:
        return (number){a.v + b.v, is_unsigned};
    case MINUS:
        return (number){a.v - b.v, is_unsigned};
    case TIMES:
        return (number){a.v * b.v, is_unsigned};
    default:
        return divide(e, loc, a, b, op == MODULO);
    }
}

static number evaluate_binary(evaluator *e, int level) {
    number a = evaluate_unary(e);
    for (;;) {
        operation op = operation_ahead(e);
        if (op == N_OPERATIONS || operations[op].level < level)
            return a;
        rg_loc loc = e->t.loc;
        advance(e);
        bool skips = (op == OR_ELSE && a.v) || (op == AND_ALSO && !a.v);
        e->dead += skips;
        number b = evaluate_binary(e, operations[op].level + 1);
        e->dead -= skips;
        a = apply(e, loc, op, a, b);
    }
}

/* binary | binary ? conditional : conditional */
static number evaluate_conditional(evaluator *e) {
    number c = evaluate_binary(e, 1);
    if (!at(e, "?"))
        return c;
    rg_loc loc = e->t.loc;
    if (e->depth >= MAX_DEPTH)
        return fail(e, loc, NULL, "the expression is nested too deeply");
    e->depth++;
    advance(e);
    e->dead += c.v == 0;
    number a = evaluate_conditional(e);
    e->dead -= c.v == 0;
    if (!e->failed && !at(e, ":"))
        return fail(e, loc, NULL, rg_format(e->ex->arena, "'?' without ':' in #%s", e->directive));
    advance(e);
    e->dead += c.v != 0;
    number b = evaluate_conditional(e);
    e->dead -= c.v != 0;
    e->depth--;
    return (number){c.v ? a.v : b.v, a.is_unsigned || b.is_unsigned};
}

bool rg_condition_holds(rg_expander *ex, const char *directive, rg_loc loc,
                        const rg_lexemes *line) {
    if (line->n == 0) {
        rg_error(ex->diags, loc, "write a condition, or #ifdef NAME", "#%s without a condition",
                 directive);
        return false;
    }
    evaluator e = {.ex = ex, .directive = directive, .last = loc};
    uint32_t opened = rg_macro_open(ex, line->at, line->n);
    e.t = rg_macro_next(ex);
    number n = evaluate_conditional(&e);
    if (!e.failed && e.t.kind != RG_LEX_END)
        fail(&e, e.t.loc, "join the parts with an operator",
             rg_format(ex->arena, "'%s' comes after the end of the condition in #%s",
                       e.t.name->text, directive));
    rg_macro_close(ex, opened);
    return !e.failed && n.v != 0;
}
