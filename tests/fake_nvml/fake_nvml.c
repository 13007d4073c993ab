/* A scriptable stand-in for libnvidia-ml.so.1, for tests on machines without a GPU.
 *
 * State is read at every call from the file named by $FAKE_NVML: lines of key=value, where `key.<i>`
 * is device i alone and `ret.<function>` (or `ret.<function>.<i>`) is the error to answer with.
 * See fake_nvml.py for the keys. Declarations are this file's own, since nvml.h is on few machines;
 * the sizes of the structures are asserted against those of nvidia-ml-py (-DSIZE_…).
 * -DOLD_DRIVER leaves out what drivers before about 2021 did not have.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long u64;
typedef int ret_t;
typedef void *device_t;
typedef struct { u64 total, free, used; } memory_v1_t;
typedef struct { unsigned version; u64 total, reserved, free, used; } memory_v2_t;
typedef struct { unsigned gpu, memory; } utilization_t;
typedef struct { unsigned pid; u64 used; unsigned gpu_instance, compute_instance; } process_t;
typedef struct {
    char bus_id_legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
} pci_t;

_Static_assert(sizeof(memory_v1_t) == SIZE_MEMORY, "nvmlMemory_t");
_Static_assert(sizeof(memory_v2_t) == SIZE_MEMORY_V2, "nvmlMemory_v2_t");
_Static_assert(sizeof(utilization_t) == SIZE_UTILIZATION, "nvmlUtilization_t");
_Static_assert(sizeof(process_t) == SIZE_PROCESS, "nvmlProcessInfo_t");
_Static_assert(sizeof(pci_t) == SIZE_PCI, "nvmlPciInfo_t");

enum { INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7, LIBRARY_NOT_FOUND = 12 };
enum { VERSION_MISMATCH = 25 };
enum { MIG_FACTOR = 0x100, BASE = 0x1000 };

/* The value of a key: the device's own if there is one, else everybody's. Returns 0 when unset. */
static int text(const char *key, int device, char *value, size_t size) {
    const char *path = getenv("FAKE_NVML");
    FILE *file = path ? fopen(path, "r") : NULL;
    char line[512], own[96];
    int found = 0;
    snprintf(own, sizeof own, "%s.%d", key, device);
    while (file && fgets(line, sizeof line, file)) {
        char *mark = strchr(line, '=');
        if (!mark) continue;
        *mark = 0;
        line[strcspn(line, "\n")] = 0;
        mark[1 + strcspn(mark + 1, "\n")] = 0;
        int mine = !strcmp(line, own);
        if (mine || (found < 2 && !strcmp(line, key))) {
            snprintf(value, size, "%s", mark + 1);
            found = mine ? 2 : 1;
        }
    }
    if (file) fclose(file);
    return found;
}

static u64 number(const char *key, int device, u64 otherwise) {
    char value[64];
    return text(key, device, value, sizeof value) ? strtoull(value, NULL, 0) : otherwise;
}

static ret_t answer(const char *function, int device) {
    char key[80];
    snprintf(key, sizeof key, "ret.%s", function);
    return (ret_t)number(key, device, 0);
}

/* A MIG instance is a handle of its own: device + MIG_FACTOR * (instance + 1). */
static int handle(device_t d) { return (int)((char *)d - (char *)(size_t)BASE); }
static int parent(device_t d) { return handle(d) % MIG_FACTOR; }
static int instance(device_t d) { return handle(d) / MIG_FACTOR - 1; }
static device_t make(int device, int mig) { return (device_t)(size_t)(BASE + device + MIG_FACTOR * (mig + 1)); }

#define ANSWER(device) do { ret_t r_ = answer(__func__, device); if (r_) return r_; } while (0)
#define DEVICE ANSWER(parent(d))
#define WHOLE DEVICE; if (instance(d) >= 0) return NOT_SUPPORTED

/* Once loaded it stays in the process: to whoever has not asked for it there is no driver. */
ret_t nvmlInitWithFlags(unsigned flags) {
    (void)flags;
    if (!getenv("FAKE_NVML")) return LIBRARY_NOT_FOUND;
    ANSWER(-1);
    return 0;
}
ret_t nvmlShutdown(void) { ANSWER(-1); return 0; }
const char *nvmlErrorString(ret_t r) { return r ? "fake error" : "Success"; }

ret_t nvmlSystemGetDriverVersion(char *value, unsigned size) {
    ANSWER(-1);
    if (!text("driver", -1, value, size)) snprintf(value, size, "580.65.06");
    return 0;
}

ret_t nvmlDeviceGetCount_v2(unsigned *count) { ANSWER(-1); *count = number("count", -1, 1); return 0; }

ret_t nvmlDeviceGetHandleByIndex_v2(unsigned index, device_t *d) {
    ANSWER((int)index);
    if (index >= number("count", -1, 1)) return INVALID;
    *d = make((int)index, -1);
    return 0;
}

ret_t nvmlDeviceGetName(device_t d, char *value, unsigned size) {
    DEVICE;
    if (!text("name", parent(d), value, size)) snprintf(value, size, "NVIDIA Fake RTX %d", parent(d));
    return 0;
}

ret_t nvmlDeviceGetUUID(device_t d, char *value, unsigned size) {
    DEVICE;
    if (instance(d) < 0) snprintf(value, size, "GPU-fa4e0000-0000-0000-0000-%012d", parent(d));
    else snprintf(value, size, "MIG-fa4e0000-0000-0000-%04d-%012d", instance(d), parent(d));
    return 0;
}

ret_t nvmlDeviceGetPciInfo_v3(device_t d, pci_t *pci) {
    WHOLE;
    memset(pci, 0, sizeof *pci);
    pci->bus = parent(d) + 1;
    snprintf(pci->bus_id, sizeof pci->bus_id, "00000000:%02X:00.0", pci->bus);
    return 0;
}

static u64 size_of(device_t d) {
    u64 whole = number("total", parent(d), 24ULL << 30);
    return instance(d) < 0 ? whole : whole / number("mig.count", parent(d), 2);
}

ret_t nvmlDeviceGetMemoryInfo(device_t d, memory_v1_t *m) {
    DEVICE;
    m->total = size_of(d);
    m->used = number("used", parent(d), 1ULL << 30) + number("reserved", parent(d), 300ULL << 20);
    m->free = m->total - m->used;
    return 0;
}

ret_t nvmlDeviceGetUtilizationRates(device_t d, utilization_t *u) {
    WHOLE;
    u->gpu = number("utilisation", parent(d), 90);
    u->memory = 10;
    return 0;
}

ret_t nvmlDeviceGetTemperature(device_t d, unsigned sensor, unsigned *degrees) {
    (void)sensor;
    WHOLE;
    *degrees = number("temperature", parent(d), 65);
    return 0;
}

ret_t nvmlDeviceGetPowerUsage(device_t d, unsigned *milliwatts) {
    WHOLE;
    *milliwatts = number("power_mw", parent(d), 250500);
    return 0;
}

ret_t nvmlDeviceGetEnforcedPowerLimit(device_t d, unsigned *milliwatts) {
    WHOLE;
    *milliwatts = number("limit_mw", parent(d), 350000);
    return 0;
}

ret_t nvmlDeviceGetCurrentClocksThrottleReasons(device_t d, u64 *reasons) {
    WHOLE;
    *reasons = number("throttle", parent(d), 0);
    return 0;
}

ret_t nvmlDeviceGetCudaComputeCapability(device_t d, int *major, int *minor) {
    DEVICE;
    *major = (int)number("capability.major", parent(d), 8);
    *minor = (int)number("capability.minor", parent(d), 6);
    return 0;
}

ret_t nvmlDeviceGetDriverModel_v2(device_t d, unsigned *now, unsigned *later) {
    WHOLE;
    char value[8];
    if (!text("driver_model", parent(d), value, sizeof value)) return NOT_SUPPORTED; /* Linux */
    *now = *later = (unsigned)atoi(value);
    return 0;
}

/* processes=<pid>:<bytes> <pid>:? … ; ? is what WDDM says: not available. */
static ret_t processes(const char *key, device_t d, unsigned *count, process_t *out) {
    char value[400];
    unsigned have = 0, room = *count;
    if (text(key, parent(d), value, sizeof value))
        for (char *at = strtok(value, " "); at; at = strtok(NULL, " ")) {
            char *bytes = strchr(at, ':');
            if (out && have < room) {
                out[have].pid = (unsigned)atoi(at);
                out[have].used = !bytes || bytes[1] == '?' ? ~0ULL : strtoull(bytes + 1, NULL, 0);
                out[have].gpu_instance = out[have].compute_instance = 0xFFFFFFFF;
            }
            have++;
        }
    *count = have;
    return have > room ? INSUFFICIENT_SIZE : 0;
}

#ifdef OLD_DRIVER
ret_t nvmlDeviceGetComputeRunningProcesses_v2(device_t d, unsigned *n, process_t *p) {
    DEVICE;
    return processes("processes", d, n, p);
}
#else
ret_t nvmlSystemGetCudaDriverVersion_v2(int *version) {
    ANSWER(-1);
    *version = (int)number("cuda", -1, 13000);
    return 0;
}

ret_t nvmlDeviceGetMemoryInfo_v2(device_t d, memory_v2_t *m) {
    DEVICE;
    if (m->version != (2U << 24 | sizeof *m)) return VERSION_MISMATCH;
    m->total = size_of(d);
    m->reserved = number("reserved", parent(d), 300ULL << 20);
    m->used = number("used", parent(d), 1ULL << 30);
    m->free = m->total - m->used - m->reserved;
    return 0;
}

ret_t nvmlDeviceGetComputeRunningProcesses_v3(device_t d, unsigned *n, process_t *p) {
    DEVICE;
    return processes("processes", d, n, p);
}

ret_t nvmlDeviceGetGraphicsRunningProcesses_v3(device_t d, unsigned *n, process_t *p) {
    DEVICE;
    return processes("graphics", d, n, p);
}

ret_t nvmlDeviceGetCurrentClocksEventReasons(device_t d, u64 *reasons) {
    WHOLE;
    *reasons = number("throttle", parent(d), 0);
    return 0;
}

ret_t nvmlDeviceGetMigMode(device_t d, unsigned *now, unsigned *later) {
    WHOLE;
    char value[8];
    if (!text("mig", parent(d), value, sizeof value)) return NOT_SUPPORTED; /* GeForce */
    *now = *later = (unsigned)atoi(value);
    return 0;
}

ret_t nvmlDeviceGetMaxMigDeviceCount(device_t d, unsigned *count) {
    WHOLE;
    *count = number("mig", parent(d), 0) ? 7 : 0;
    return 0;
}

ret_t nvmlDeviceGetMigDeviceHandleByIndex(device_t d, unsigned index, device_t *mig) {
    WHOLE;
    if (index >= number("mig.count", parent(d), 2)) return NOT_FOUND;
    *mig = make(parent(d), (int)index);
    return 0;
}
#endif
