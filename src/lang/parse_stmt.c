/* Statements, and for each how control may leave it: what lowering needs to do without goto. */
#include "lang/check.h"
#include "lang/nearest.h"

rg_stmt *rg_stmt_new(rg_parser *p, rg_stmt_kind k, rg_loc loc) {
    rg_stmt *s = RG_NEW(p->arena, rg_stmt);
    s->kind = (uint8_t)k;
    s->loc = loc;
    return s;
}

/* The enclosing statements' counts when an error jumps out of a nested one. */
typedef struct saved {
    uint32_t depth, nesting, breakable, loops, in_parallel, in_atomic;
    rg_stmt *cases;
} saved;

/* NULL when a syntax error was met; then the position is where it stood. */
static rg_stmt *parse_guarded(rg_parser *p) {
    jmp_buf here, *outer = p->recover;
    saved s = {p->depth,       p->nesting,   p->breakable, p->loops,
               p->in_parallel, p->in_atomic, p->cases};
    p->recover = &here;
    if (setjmp(here)) {
        p->recover = outer;
        while (p->depth > s.depth)
            rg_leave_scope(p);
        p->nesting = s.nesting;
        p->in_parameters = false;
        p->breakable = s.breakable;
        p->loops = s.loops;
        p->in_parallel = s.in_parallel;
        p->in_atomic = s.in_atomic;
        p->cases = s.cases;
        return NULL;
    }
    rg_stmt *x = rg_starts_type(p) ? rg_parse_local_declaration(p) : rg_parse_statement(p);
    p->recover = outer;
    return x;
}

/* block = "{" (declaration | statement)* "}" */
rg_stmt *rg_parse_block(rg_parser *p) {
    rg_stmt *b = rg_stmt_new(p, RG_S_BLOCK, rg_tok(p)->loc);
    RG_VEC(rg_stmt *) list = {0};
    while (rg_peek(p) != RG_P_RBRACE) {
        if (rg_at_end(p))
            rg_syntax_error(p, rg_tok(p)->loc, NULL, "expected '}' before the end of the file");
        uint32_t start = p->pos;
        rg_stmt *s = parse_guarded(p);
        if (!s) {
            rg_skip_statement(p, start);
            if (p->pos == start && rg_peek(p) != RG_P_RBRACE && !rg_at_end(p))
                p->pos++;
            continue;
        }
        RG_PUSH(p->arena, &list, s);
        /* what stands after a jump is reached by a case label only */
        if (s->kind == RG_S_CASE)
            b->always = false;
        if (!b->always)
            b->always = s->always;
        b->jumps |= s->jumps;
    }
    rg_expect(p, RG_P_RBRACE, "at the end of the block");
    b->list = list.at;
    b->n = list.n;
    return b;
}

static rg_node *parse_condition(rg_parser *p, const char *after) {
    rg_expect(p, RG_P_LPAREN, after);
    rg_node *n = rg_check_condition(p, rg_parse_expr(p));
    rg_expect(p, RG_P_RPAREN, "after the condition");
    return n;
}

/* if = "if" "(" expr ")" statement ("else" statement)? */
static rg_stmt *parse_if(rg_parser *p) {
    rg_stmt *s = rg_stmt_new(p, RG_S_IF, rg_next(p)->loc);
    s->e = parse_condition(p, "after 'if'");
    s->body = rg_parse_statement(p);
    s->jumps = s->body->jumps;
    if (rg_accept(p, RG_K_ELSE)) {
        s->other = rg_parse_statement(p);
        s->jumps |= s->other->jumps;
        s->always = s->body->always && s->other->always;
    }
    return s;
}

static rg_stmt *parse_loop_body(rg_parser *p, rg_stmt *s) {
    p->breakable++;
    p->loops++;
    s->begin = rg_here(p);
    rg_stmt *cases = p->cases;
    p->cases = NULL;
    s->body = rg_parse_statement(p);
    p->cases = cases;
    s->end = rg_here(p);
    p->breakable--;
    p->loops--;
    s->jumps = s->body->jumps & RG_J_RETURN;
    return s;
}

static void take_checkpoint(rg_parser *p, rg_stmt *s) {
    s->checkpoint = p->checkpoint;
    p->checkpoint = 0;
}

/* for = "for" "(" (declaration | expr? ";") expr? ";" expr? ")" statement */
static rg_stmt *parse_for(rg_parser *p) {
    rg_stmt *s = rg_stmt_new(p, RG_S_FOR, rg_next(p)->loc);
    take_checkpoint(p, s);
    rg_enter_scope(p);
    rg_expect(p, RG_P_LPAREN, "after 'for'");
    if (rg_starts_type(p)) {
        s->init = rg_parse_local_declaration(p);
    } else {
        if (rg_peek(p) != RG_P_SEMI) {
            s->init = rg_stmt_new(p, RG_S_EXPR, rg_tok(p)->loc);
            s->init->e = rg_parse_expr(p);
        }
        rg_expect(p, RG_P_SEMI, "after the loop's start");
    }
    if (rg_peek(p) != RG_P_SEMI)
        s->e = rg_check_condition(p, rg_parse_expr(p));
    rg_expect(p, RG_P_SEMI, "after the loop's condition");
    if (rg_peek(p) != RG_P_RPAREN)
        s->step = rg_parse_expr(p);
    rg_expect(p, RG_P_RPAREN, "after the loop's step");
    parse_loop_body(p, s);
    rg_leave_scope(p);
    rg_counted_find(p, s);
    return s;
}

/* while = "while" "(" expr ")" statement */
static rg_stmt *parse_while(rg_parser *p) {
    rg_stmt *s = rg_stmt_new(p, RG_S_WHILE, rg_next(p)->loc);
    take_checkpoint(p, s);
    s->e = parse_condition(p, "after 'while'");
    return parse_loop_body(p, s);
}

/* do = "do" statement "while" "(" expr ")" ";" */
static rg_stmt *parse_do(rg_parser *p) {
    rg_stmt *s = rg_stmt_new(p, RG_S_DO, rg_next(p)->loc);
    take_checkpoint(p, s);
    parse_loop_body(p, s);
    if (!rg_accept(p, RG_K_WHILE))
        rg_syntax_error(p, rg_tok(p)->loc, NULL, "expected 'while' after the body of 'do'");
    s->e = parse_condition(p, "after 'while'");
    rg_expect(p, RG_P_SEMI, "after 'do ... while (...)'");
    return s;
}

/* switch = "switch" "(" expr ")" statement */
static rg_stmt *parse_switch(rg_parser *p) {
    rg_stmt *s = rg_stmt_new(p, RG_S_SWITCH, rg_next(p)->loc);
    rg_expect(p, RG_P_LPAREN, "after 'switch'");
    s->e = rg_parse_expr(p);
    if (!rg_node_bad(s->e)) {
        if (rg_ctype_is_int(s->e->type)) {
            s->e = rg_check_convert(p, s->e, rg_ctype_promote(s->e->type), "switch on");
        } else {
            rg_error(p->diags, s->e->loc, "use if and else",
                     "'switch' needs an integer; this is '%s'",
                     rg_ctype_name(p->arena, s->e->type));
            s->e = rg_node_error(p, s->e->loc);
        }
    }
    rg_expect(p, RG_P_RPAREN, "after the value");
    if (rg_peek(p) != RG_P_LBRACE)
        rg_syntax_error(p, rg_tok(p)->loc, NULL, "expected '{' after 'switch (...)'");
    rg_stmt *outer = p->cases;
    p->cases = s;
    s->label = p->nesting; /* its own labels stand one level deeper */
    p->breakable++;
    p->pos++;
    rg_enter_scope(p);
    s->body = rg_parse_block(p);
    rg_leave_scope(p);
    p->breakable--;
    p->cases = outer;
    s->jumps = (uint8_t)(s->body->jumps & ~RG_J_BREAK);
    bool has_default = false;
    for (uint32_t i = 0; i < s->cases.n; i++)
        has_default |= s->cases.at[i].is_default;
    s->always = has_default && s->body->always && !(s->body->jumps & RG_J_BREAK);
    const rg_stmt *first = s->body->n ? s->body->list[0] : NULL;
    bool plain = first && first->kind == RG_S_DECL;
    for (uint32_t i = 0; plain && i < first->n; i++)
        plain = !first->vars[i]->has_init;
    if (first && first->kind != RG_S_CASE && !plain)
        rg_error(p->diags, first->loc, "move it before the switch",
                 "nothing before the first case is ever reached");
    return s;
}

/* label = ("case" conditional | "default") ":" */
static rg_stmt *parse_case(rg_parser *p) {
    const rg_token *t = rg_next(p);
    rg_stmt *s = rg_stmt_new(p, RG_S_CASE, t->loc);
    rg_case c = {.loc = t->loc};
    if (p->code[p->pos - 1] == RG_K_CASE) {
        rg_node *n = rg_parse_conditional(p);
        bool is_int = rg_const_int(p, n, &c.value); /* before 1.5 becomes 1 */
        if (is_int && p->cases && !rg_node_bad(p->cases->e))
            n = rg_check_convert(p, n, p->cases->e->type, "compare");
        rg_const_int(NULL, n, &c.value);
    } else {
        c.is_default = true;
    }
    rg_expect(p, RG_P_COLON, "after the label");
    if (!p->cases || p->nesting != p->cases->label + 1) {
        rg_error(p->diags, t->loc, "labels belong directly inside the braces of a switch",
                 p->cases ? "'%s' inside a statement of the switch" : "'%s' outside of a switch",
                 t->text);
        return s;
    }
    for (uint32_t i = 0; i < p->cases->cases.n; i++) {
        const rg_case *o = &p->cases->cases.at[i];
        if (o->is_default == c.is_default && o->value == c.value) {
            rg_error(p->diags, t->loc, NULL,
                     c.is_default ? "two defaults in one switch" : "two cases of the same value");
            rg_note(p->diags, o->loc, "the other one is here");
        }
    }
    s->label = p->cases->cases.n;
    RG_PUSH(p->arena, &p->cases->cases, c);
    return s;
}

static rg_stmt *parse_jump(rg_parser *p, rg_stmt_kind k) {
    const rg_token *t = rg_next(p);
    rg_stmt *s = rg_stmt_new(p, k, t->loc);
    s->always = true;
    s->jumps = k == RG_S_BREAK ? RG_J_BREAK : RG_J_CONTINUE;
    uint32_t around = k == RG_S_BREAK ? p->breakable : p->loops;
    if (!around)
        rg_error(p->diags, t->loc, NULL, "'%s' outside of a loop", t->text);
    else if (p->in_parallel && k == RG_S_BREAK && p->breakable <= p->parallel_breakable)
        rg_error(p->diags, t->loc, "let the other iterations run: put what follows under an if",
                 "'break' cannot leave a parallel loop");
    rg_expect(p, RG_P_SEMI, "after the statement");
    return s;
}

/* return = "return" expr? ";" */
static rg_stmt *parse_return(rg_parser *p) {
    rg_stmt *s = rg_stmt_new(p, RG_S_RETURN, rg_next(p)->loc);
    s->always = true;
    s->jumps = RG_J_RETURN;
    rg_ctype *want = p->func->type->base;
    if (rg_peek(p) != RG_P_SEMI) {
        rg_node *n = rg_parse_expr(p);
        if (want->kind == RG_C_VOID) {
            if (!rg_node_bad(n) && n->type->kind != RG_C_VOID)
                rg_error(p->diags, s->loc, NULL, "'%s' returns void; it cannot return a value",
                         p->func->name);
        } else {
            s->e = rg_check_convert(p, n, want, "return");
        }
    } else if (want->kind != RG_C_VOID) {
        rg_error(p->diags, s->loc, NULL, "'%s' must return a value of type '%s'", p->func->name,
                 rg_ctype_name(p->arena, want));
    }
    if (p->in_parallel)
        rg_error(p->diags, s->loc, "use continue, or put what follows under an if",
                 "'return' cannot leave a parallel loop");
    rg_expect(p, RG_P_SEMI, "after 'return'");
    return s;
}

/* statement = block | if | for | while | do | switch | label | jump | return | pragma
 *           | expr? ";" */
rg_stmt *rg_parse_statement(rg_parser *p) {
    const rg_token *t = rg_tok(p);
    rg_stmt *s;
    rg_deeper(p, t->loc);
    if (t->kind == RG_TOK_PRAGMA) {
        s = rg_parse_pragma(p);
        if (!s) {
            bool loop = rg_peek(p) == RG_K_FOR || rg_peek(p) == RG_K_WHILE || rg_peek(p) == RG_K_DO;
            if (p->checkpoint && !loop && rg_tok(p)->kind != RG_TOK_PRAGMA) {
                rg_error(p->diags, t->loc, "write it right before a loop inside a kernel",
                         "'#pragma retrograd checkpoint' is not before a loop");
                p->checkpoint = 0;
            }
            if (rg_peek(p) == RG_P_RBRACE)
                s = rg_stmt_new(p, RG_S_EMPTY, t->loc);
            else if (rg_starts_type(p)) /* a hint before a declaration */
                s = rg_parse_local_declaration(p);
            else
                s = rg_parse_statement(p);
        }
        p->nesting--;
        return s;
    }
    switch (rg_peek(p)) {
    case RG_P_LBRACE:
        p->pos++;
        rg_enter_scope(p);
        s = rg_parse_block(p);
        rg_leave_scope(p);
        break;
    case RG_K_IF:
        s = parse_if(p);
        break;
    case RG_K_FOR:
        s = parse_for(p);
        break;
    case RG_K_WHILE:
        s = parse_while(p);
        break;
    case RG_K_DO:
        s = parse_do(p);
        break;
    case RG_K_SWITCH:
        s = parse_switch(p);
        break;
    case RG_K_CASE:
    case RG_K_DEFAULT:
        s = parse_case(p);
        break;
    case RG_K_BREAK:
        s = parse_jump(p, RG_S_BREAK);
        break;
    case RG_K_CONTINUE:
        s = parse_jump(p, RG_S_CONTINUE);
        break;
    case RG_K_RETURN:
        s = parse_return(p);
        break;
    case RG_K_GOTO:
        rg_syntax_error(p, t->loc, "use a loop with break, or a flag",
                        "goto is not part of kernel C");
    case RG_K_ASM:
    case RG_K_ASM2:
    case RG_K_ASM3:
        rg_syntax_error(p, t->loc, "write it in C", "assembly is not part of kernel C");
    case RG_K_ELSE:
        rg_syntax_error(p, t->loc, NULL, "'else' without 'if'");
    case RG_P_SEMI:
        p->pos++;
        s = rg_stmt_new(p, RG_S_EMPTY, t->loc);
        break;
    default:
        if (rg_is_name(p) && rg_peek_at(p, 1) == RG_P_COLON)
            rg_syntax_error(p, t->loc, "use a loop with break, or a flag",
                            "labels are not part of kernel C");
        if (rg_is_name(p) && rg_peek_at(p, 1) == RG_K_OTHER &&
            p->tok[p->pos + 1].kind == RG_TOK_IDENT)
            rg_syntax_error(p, t->loc,
                            rg_hint_type(p, t->text, "declare it with typedef or struct first"),
                            "unknown type '%s'", t->text);
        if (rg_starts_type(p))
            rg_syntax_error(p, t->loc, "put braces around it",
                            "a declaration cannot stand here without a block");
        s = rg_stmt_new(p, RG_S_EXPR, t->loc);
        s->e = rg_parse_expr(p);
        rg_expect(p, RG_P_SEMI, "after the statement");
        break;
    }
    p->nesting--;
    return s;
}
