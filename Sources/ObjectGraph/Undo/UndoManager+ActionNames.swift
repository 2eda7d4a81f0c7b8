internal import Foundation

extension UndoManager {
    /// A key for information about an action, see ``setActionUserInfoValue(_:forKey:)``.
    public struct UserInfoKey: RawRepresentable, Hashable, Sendable {
        /// The raw value.
        public let rawValue: String
        /// Creates a key from a raw value.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Sets the name, for menus, of the open group or the last closed one.
    public func setActionName(_ actionName: String) { groupToDescribe?.actionName = actionName }

    /// The name of the group that ``undo()`` undoes; empty if it has none.
    public var undoActionName: String { lastUndoGroup?.actionName ?? "" }
    /// The name of the group that ``redo()`` redoes; empty if it has none.
    public var redoActionName: String { lastRedoGroup?.actionName ?? "" }

    /// The title of a menu item for ``undo()``, such as “Undo Typing”.
    public var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
    /// The title of a menu item for ``redo()``, such as “Redo Typing”.
    public var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

    /// Returns the title of a menu item for the undo of an action.
    public func undoMenuTitle(forUndoActionName actionName: String) -> String { actionName.isEmpty ? "Undo" : "Undo \(actionName)" }
    /// Returns the title of a menu item for the redo of an action.
    public func redoMenuTitle(forUndoActionName actionName: String) -> String { actionName.isEmpty ? "Redo" : "Redo \(actionName)" }

    /// Sets whether the changes of the open group, or the last closed one, are so minor that a document with them need not be saved.
    public func setActionIsDiscardable(_ discardable: Bool) { groupToDescribe?.isDiscardable = discardable }
    /// Whether the group that ``undo()`` undoes is discardable.
    public var undoActionIsDiscardable: Bool { lastUndoGroup?.isDiscardable ?? false }
    /// Whether the group that ``redo()`` redoes is discardable.
    public var redoActionIsDiscardable: Bool { lastRedoGroup?.isDiscardable ?? false }

    /// Sets a value for the open group, or the last closed one.
    public func setActionUserInfoValue(_ info: Any?, forKey key: UserInfoKey) { groupToDescribe?.userInfo[key] = info }
    /// Returns a value of the group that ``undo()`` undoes.
    public func undoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { lastUndoGroup?.userInfo[key] }
    /// Returns a value of the group that ``redo()`` redoes.
    public func redoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { lastRedoGroup?.userInfo[key] }
}
