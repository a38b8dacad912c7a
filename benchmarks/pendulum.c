/* Pendulum as sekai's batch steps it, in C.
 *
 * The same work on the same arrays: semi-implicit Euler in double precision, time limit, episode return, same-step
 * autoreset from a PCG64 stream per lane, float32 observations, final observations of the lanes that ended. Angles are
 * reduced to the nearest quarter of a turn, and sine and cosine are polynomials there.
 *
 *     cc -O3 -march=native -shared -fPIC -o pendulum.so pendulum.c
 */
#pragma GCC optimize("no-trapping-math") /* or GCC vectorises no choice between numbers */
#include <math.h>
#include <stdint.h>

#define BLOCK 1024
#define PI 3.14159265358979323846

typedef unsigned __int128 u128;

typedef struct {
    double *restrict theta, *restrict theta_dot, *restrict last_u, *restrict episode_return;
    int64_t *restrict elapsed;
    uint64_t *restrict rng; /* 4 rows: state high, state low, increment high, increment low */
} lanes;

static const double g = 10.0, m = 1.0, l = 1.0, dt = 0.05, max_speed = 8.0, max_torque = 2.0;

static inline double draw(uint64_t *restrict rng, int64_t n, int64_t i) {
    const u128 multiplier = ((u128)0x2360ED051FC65DA4u << 64) | 0x4385DF649FCCF645u;
    u128 state = ((u128)rng[i] << 64 | rng[n + i]) * multiplier + ((u128)rng[2 * n + i] << 64 | rng[3 * n + i]);
    rng[i] = (uint64_t)(state >> 64);
    rng[n + i] = (uint64_t)state;
    uint64_t word = rng[i] ^ rng[n + i], turn = rng[i] >> 58;
    word = word >> turn | word << (-turn & 63);
    return (word >> 11) * (1.0 / 9007199254740992.0);
}

static inline double clip(double x, double most) {
    x = x < -most ? -most : x;
    return x > most ? most : x;
}

static inline void sine_and_cosine(double x, double *restrict sine, double *restrict cosine) {
    double k = rint(x * (2.0 / PI));
    double r = (x - k * 1.57079632673412561417e+00) - k * 6.07710050650619224932e-11, z = r * r;
    double quarter = k - 4.0 * floor(0.25 * k); /* 0 to 3 */
    double s = r + r * z * (-1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * (
        -1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * (
        -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
    double c = 1.0 - 0.5 * z + z * z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (
        2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * (
        2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))));
    int odd = (quarter == 1.0) | (quarter == 3.0), lower = quarter >= 2.0, left = (quarter == 1.0) | (quarter == 2.0);
    double first = odd ? c : s, second = odd ? s : c;
    *sine = lower ? -first : first;
    *cosine = left ? -second : second;
}

static void dynamics(int64_t n, lanes a, const double *restrict action, double *restrict reward) {
    for (int64_t i = 0; i < n; i++) {
        double theta = a.theta[i], theta_dot = a.theta_dot[i], sine, cosine;
        double u = clip(action[i], max_torque);
        double turns = floor((theta + PI) / (2.0 * PI)), angle = theta - turns * (2.0 * PI);
        sine_and_cosine(angle, &sine, &cosine);
        reward[i] = -(angle * angle + 0.1 * theta_dot * theta_dot + 0.001 * u * u);
        theta_dot += (3.0 * g / (2.0 * l) * sine + 3.0 / (m * l * l) * u) * dt;
        theta_dot = clip(theta_dot, max_speed);
        a.theta[i] = theta + theta_dot * dt;
        a.theta_dot[i] = theta_dot;
        a.last_u[i] = u;
    }
}

static inline void observe(lanes a, int64_t i, float *restrict o) {
    double sine, cosine;
    sine_and_cosine(a.theta[i], &sine, &cosine);
    o[3 * i] = (float)cosine;
    o[3 * i + 1] = (float)sine;
    o[3 * i + 2] = (float)a.theta_dot[i];
}

/* Steps n lanes, whose random words lie in rows of `row` words; returns how many ended and were reset. */
int64_t step(int64_t n, int64_t row, lanes all, const double *restrict actions, int64_t limit, float *restrict observations,
             double *restrict rewards, uint8_t *restrict terminated, uint8_t *restrict truncated, int64_t *restrict info,
             int64_t *restrict ends, float *restrict final_observations) {
    int64_t count = 0;
    for (int64_t lo = 0; lo < n; lo += BLOCK) {
        int64_t size = n - lo < BLOCK ? n - lo : BLOCK, first = count, ended = 0;
        lanes a = {all.theta + lo, all.theta_dot + lo, all.last_u + lo, all.episode_return + lo, all.elapsed + lo,
                   all.rng + lo};
        double *restrict reward = rewards + lo;
        uint8_t *restrict tr = truncated + lo;
        float *restrict o = observations + 3 * lo;
        dynamics(size, a, actions + lo, reward);
        for (int64_t i = 0; i < size; i++) {
            a.episode_return[i] += reward[i];
            a.elapsed[i] += 1;
            info[lo + i] = a.elapsed[i];
            terminated[lo + i] = 0;
            tr[i] = a.elapsed[i] >= limit;
            ended += tr[i];
        }
        for (int64_t i = 0; i < size; i++) observe(a, i, o);
        if (!ended) continue;
        for (int64_t i = 0; i < size; i++) {
            ends[count] = lo + i;
            count += tr[i];
        }
        for (int64_t k = first; k < count; k++) {
            int64_t i = ends[k] - lo;
            for (int j = 0; j < 3; j++) final_observations[3 * k + j] = o[3 * i + j];
            a.theta[i] = -PI + 2.0 * PI * draw(a.rng, row, i);
            a.theta_dot[i] = -1.0 + 2.0 * draw(a.rng, row, i);
            a.last_u[i] = NAN;
            a.elapsed[i] = 0;
            a.episode_return[i] = 0.0;
            observe(a, i, o);
        }
    }
    return count;
}
