internal import Foundation

/// What one undo carries out: actions and nested groups, last in first out.
final class UndoGroup {
    /// One registered action.
    struct Action {
        let target: ObjectIdentifier
        let run: () -> Void
    }

    enum Entry {
        case action(Action)
        case group(UndoGroup)
    }

    private(set) var entries: [Entry] = []
    var actionName = ""
    var isDiscardable = false
    var userInfo: [UndoManager.UserInfoKey: Any] = [:]

    var isEmpty: Bool { entries.isEmpty }

    func append(_ action: Action) { entries.append(.action(action)) }

    /// Takes in a nested group that was closed, and its name if this one has none.
    func append(_ group: UndoGroup) {
        if actionName.isEmpty { actionName = group.actionName }
        entries.append(.group(group))
    }

    /// Takes out the last entry if it is a group.
    func removeLastGroup() -> UndoGroup? {
        guard case .group(let group)? = entries.last else { return nil }
        entries.removeLast()
        return group
    }

    func run() {
        for entry in entries.reversed() {
            switch entry {
            case .action(let action): action.run()
            case .group(let group): group.run()
            }
        }
    }

    func removeAll() { entries = [] }

    /// Drops the actions of a target, and the nested groups that are empty then.
    func removeActions(of target: ObjectIdentifier) {
        entries.removeAll { entry in
            switch entry {
            case .action(let action): return action.target == target
            case .group(let group):
                group.removeActions(of: target)
                return group.isEmpty
            }
        }
    }
}
