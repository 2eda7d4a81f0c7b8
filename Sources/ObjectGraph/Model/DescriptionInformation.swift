internal import Foundation
internal import Platform
internal import Predicates

/// The information that a program has about a part of a model. Unlike the rest of a description, it may change while the model is in use, on any thread.
final class DescriptionInformation: Sendable {
    private struct State {
        var values: [AnyHashable: Any]? = [:]
        var edits = 0
    }
    private let state = LockedBox(State())

    var values: [AnyHashable: Any]? {
        get { state.withLock { $0.values } }
        set {
            // The old values are released without the lock: they may be the program's own objects.
            let old = state.withLock { state in
                defer { state = State(values: newValue, edits: state.edits + 1) }
                return state.values
            }
            withExtendedLifetime(old) {}
        }
    }

    /// How often the values were set.
    var edits: Int { state.withLock { $0.edits } }
}
