import Testing

/// Attacks on the real program over loopback, while an honest client uses it.
@Suite("Hardening", .serialized, .timeLimit(.minutes(5)))
struct HardeningTests {}
