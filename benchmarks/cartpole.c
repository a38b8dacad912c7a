/* CartPole as sekai's batch steps it, in C: the yardstick of benchmarks/cartpole.py.
 *
 * The same work on the same arrays: dynamics in double precision with the polynomials of sincos_quarter, time limit, episode
 * return, same-step autoreset from a PCG64 stream per lane, float32 observations, final observations of the lanes that ended.
 *
 *     cc -O3 -march=native -shared -fPIC -o cartpole.so cartpole.c
 */
#include <math.h>
#include <stdint.h>

#define BLOCK 1024

typedef unsigned __int128 u128;

typedef struct {
    double *restrict x, *restrict x_dot, *restrict theta, *restrict theta_dot, *restrict episode_return;
    int64_t *restrict past_end, *restrict elapsed;
    uint64_t *restrict rng; /* 4 rows: state high, state low, increment high, increment low */
} lanes;

static const double gravity = 9.8, masscart = 1.0, masspole = 0.1, length = 0.5, force_mag = 10.0, tau = 0.02;
static const double theta_threshold = 0.20943951023931953, x_threshold = 2.4;

static inline double draw(uint64_t *restrict rng, int64_t n, int64_t i) {
    const u128 multiplier = ((u128)0x2360ED051FC65DA4u << 64) | 0x4385DF649FCCF645u;
    u128 state = ((u128)rng[i] << 64 | rng[n + i]) * multiplier + ((u128)rng[2 * n + i] << 64 | rng[3 * n + i]);
    rng[i] = (uint64_t)(state >> 64);
    rng[n + i] = (uint64_t)state;
    uint64_t word = rng[i] ^ rng[n + i], turn = rng[i] >> 58;
    word = word >> turn | word << (-turn & 63);
    return (word >> 11) * (1.0 / 9007199254740992.0);
}

static void dynamics(int64_t n, lanes l, const int64_t *restrict action, double *restrict reward, uint8_t *restrict terminated) {
    for (int64_t i = 0; i < n; i++) {
        double theta = l.theta[i], z = theta * theta;
        double sine = theta + theta * z * (-1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * (
            -1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * (
            -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
        double cosine = 1.0 - 0.5 * z + z * z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (
            2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * (
            2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))));
        double total_mass = masspole + masscart, polemass_length = masspole * length;
        double force = action[i] == 1 ? force_mag : -force_mag, x_dot = l.x_dot[i], theta_dot = l.theta_dot[i];
        double h = (force + polemass_length * (theta_dot * theta_dot) * sine) / total_mass;
        double theta_acc = (gravity * sine - cosine * h) / (length * (4.0 / 3.0 - masspole * (cosine * cosine) / total_mass));
        double x_acc = h - polemass_length * theta_acc * cosine / total_mass;
        double x = l.x[i] + tau * x_dot;
        theta += tau * theta_dot;
        l.x[i] = x, l.theta[i] = theta;
        l.x_dot[i] = x_dot + tau * x_acc, l.theta_dot[i] = theta_dot + tau * theta_acc;
        int done = (fabs(x) > x_threshold) | (fabs(theta) > theta_threshold);
        int64_t past_end = l.past_end[i];
        l.past_end[i] = past_end + (done | (past_end > 0));
        reward[i] = done && past_end ? 0.0 : 1.0;
        terminated[i] = (uint8_t)done;
    }
}

/* Steps n lanes, whose random words lie in rows of `row` words; returns how many ended and were reset. */
int64_t step(int64_t n, int64_t row, lanes all, const int64_t *restrict actions, int64_t limit, float *restrict observations,
             double *restrict rewards, uint8_t *restrict terminated, uint8_t *restrict truncated, int64_t *restrict info,
             int64_t *restrict ends, float *restrict final_observations) {
    int64_t count = 0;
    for (int64_t lo = 0; lo < n; lo += BLOCK) {
        int64_t m = n - lo < BLOCK ? n - lo : BLOCK, first = count;
        lanes l = {all.x + lo, all.x_dot + lo, all.theta + lo, all.theta_dot + lo, all.episode_return + lo,
                   all.past_end + lo, all.elapsed + lo, all.rng + lo};
        double *restrict reward = rewards + lo;
        uint8_t *restrict te = terminated + lo, *restrict tr = truncated + lo;
        float *restrict o = observations + 4 * lo;
        dynamics(m, l, actions + lo, reward, te);
        int64_t ended = 0;
        for (int64_t i = 0; i < m; i++) {
            l.episode_return[i] += reward[i];
            l.elapsed[i] += 1;
            info[lo + i] = l.elapsed[i];
            tr[i] = l.elapsed[i] >= limit;
            ended += te[i] | tr[i];
        }
        for (int64_t i = 0; i < m; i++) {
            o[4 * i] = (float)l.x[i];
            o[4 * i + 1] = (float)l.x_dot[i];
            o[4 * i + 2] = (float)l.theta[i];
            o[4 * i + 3] = (float)l.theta_dot[i];
        }
        if (!ended) continue;
        for (int64_t i = 0; i < m; i++) {
            ends[count] = lo + i;
            count += te[i] | tr[i];
        }
        for (int64_t k = first; k < count; k++) {
            int64_t i = ends[k] - lo;
            for (int j = 0; j < 4; j++) final_observations[4 * k + j] = o[4 * i + j];
            l.x[i] = -0.05 + 0.1 * draw(l.rng, row, i);
            l.x_dot[i] = -0.05 + 0.1 * draw(l.rng, row, i);
            l.theta[i] = -0.05 + 0.1 * draw(l.rng, row, i);
            l.theta_dot[i] = -0.05 + 0.1 * draw(l.rng, row, i);
            l.past_end[i] = l.elapsed[i] = 0;
            l.episode_return[i] = 0.0;
            o[4 * i] = (float)l.x[i];
            o[4 * i + 1] = (float)l.x_dot[i];
            o[4 * i + 2] = (float)l.theta[i];
            o[4 * i + 3] = (float)l.theta_dot[i];
        }
    }
    return count;
}
