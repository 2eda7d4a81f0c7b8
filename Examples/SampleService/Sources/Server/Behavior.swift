/// The current behaviour of the service: its delay, and the planned failures.
struct Behavior: Sendable {
    enum Spoiling: Sendable {
        case failure(status: Int)
        case malformed
    }

    private struct Plan: Sendable {
        let spoiling: Spoiling
        let pathPrefix: String
        var remaining: Int
    }

    var delay: Duration = .zero
    private var plans: [Plan] = []

    mutating func plan(_ spoiling: Spoiling, count: Int, path prefix: String) {
        guard count > 0 else { return }
        plans.append(Plan(spoiling: spoiling, pathPrefix: prefix, remaining: count))
    }

    /// Uses up one step of the oldest plan that this path falls under.
    mutating func takePlan(for path: String) -> Spoiling? {
        guard let index = plans.firstIndex(where: { path.hasPrefix($0.pathPrefix) }) else { return nil }
        let spoiling = plans[index].spoiling
        plans[index].remaining -= 1
        if plans[index].remaining == 0 { plans.remove(at: index) }
        return spoiling
    }
}
