internal import Foundation

/// The actions and nested groups of one undo, performed in reverse order.
final class UndoGroup {
    /// A registered action.
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

    /// Appends a nested group that was closed, and takes its name if this group has none.
    func append(_ group: UndoGroup) {
        if actionName.isEmpty { actionName = group.actionName }
        entries.append(.group(group))
    }

    /// Removes and returns the last entry if it is a group.
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

    /// Removes the actions of a target, and nested groups that become empty.
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
