internal import Foundation

extension UndoManager {
    /// A key of what is kept beside an action, see ``setActionUserInfoValue(_:forKey:)``.
    public struct UserInfoKey: RawRepresentable, Hashable, Sendable {
        /// The raw value.
        public let rawValue: String
        /// Makes a key of a raw value.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Names the open group, or the last that was closed, for menus.
    public func setActionName(_ actionName: String) { groupToDescribe?.actionName = actionName }

    /// The name of what ``undo()`` takes back; empty where it has none.
    public var undoActionName: String { lastUndoGroup?.actionName ?? "" }
    /// The name of what ``redo()`` makes again; empty where it has none.
    public var redoActionName: String { lastRedoGroup?.actionName ?? "" }

    /// The title of a menu item for ``undo()``, such as “Undo Typing”.
    public var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
    /// The title of a menu item for ``redo()``, such as “Redo Typing”.
    public var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

    /// The title of a menu item for the undo of an action.
    public func undoMenuTitle(forUndoActionName actionName: String) -> String { actionName.isEmpty ? "Undo" : "Undo \(actionName)" }
    /// The title of a menu item for the redo of an action.
    public func redoMenuTitle(forUndoActionName actionName: String) -> String { actionName.isEmpty ? "Redo" : "Redo \(actionName)" }

    /// Says whether the changes of the open group, or of the last that was closed, matter so little that a document with them need not be saved.
    public func setActionIsDiscardable(_ discardable: Bool) { groupToDescribe?.isDiscardable = discardable }
    /// Whether what ``undo()`` takes back is discardable.
    public var undoActionIsDiscardable: Bool { lastUndoGroup?.isDiscardable ?? false }
    /// Whether what ``redo()`` makes again is discardable.
    public var redoActionIsDiscardable: Bool { lastRedoGroup?.isDiscardable ?? false }

    /// Keeps a value beside the open group, or the last that was closed.
    public func setActionUserInfoValue(_ info: Any?, forKey key: UserInfoKey) { groupToDescribe?.userInfo[key] = info }
    /// The value kept beside what ``undo()`` takes back.
    public func undoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { lastUndoGroup?.userInfo[key] }
    /// The value kept beside what ``redo()`` makes again.
    public func redoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { lastRedoGroup?.userInfo[key] }
}
