public import Foundation
internal import Predicates

/// Records the actions that undo changes, and performs them in groups.
///
/// Foundation on Linux lacks the class; this one has the names and the behaviour of Apple's. It belongs to one queue, that of its context
/// (``NSManagedObjectContext/undoManager``), and must be used on it only.
///
/// ```swift
/// context.undoManager = UndoManager()
/// album.title = "Trust"
/// context.undo()
/// ```
///
/// **Events.** With ``groupsByEvent``, a group opens automatically with the first registration and closes at the end of the event. On
/// Apple's platforms that is a pass of the run loop. Here it is a block of the context's queue (`perform`, `performAndWait`, or the work
/// of one turn of the main queue); without a context on the main thread, a turn of the main queue; elsewhere the group stays open until
/// ``undo()``.
///
/// Source: [UndoManager](https://developer.apple.com/documentation/foundation/undomanager).
open class UndoManager: NSObject {
    private var undoStack: [UndoGroup] = []
    private var redoStack: [UndoGroup] = []
    /// The open groups, the outermost first; while undoing or redoing, those of the recording.
    private var openGroups: [UndoGroup] = []
    private var disableCount = 0
    /// Whether the open group was opened automatically.
    private var isEventGroupOpen = false
    /// The clients that register pending changes before a group opens, closes or is undone.
    private var clients: [ObjectIdentifier: () -> Void] = [:]
    private var isAskingClients = false

    /// Creates a manager with nothing to undo.
    public override init() { super.init() }

    // MARK: State

    /// Whether an undo is being performed.
    open private(set) var isUndoing = false
    /// Whether a redo is being performed.
    open private(set) var isRedoing = false
    /// Whether there are actions to undo, including those of open groups.
    open var canUndo: Bool { !undoStack.isEmpty || openGroups.contains { !$0.isEmpty } }
    /// Whether there are actions to redo. Reading it registers pending changes, which clears the redo stack.
    open var canRedo: Bool {
        checkpoint()
        return !redoStack.isEmpty
    }
    /// The number of groups to undo.
    open var undoCount: Int { undoStack.count }
    /// The number of groups to redo.
    open var redoCount: Int { redoStack.count }
    /// The number of nested open groups.
    open var groupingLevel: Int { openGroups.count }
    /// Whether a group opens automatically with the first registration of an event. The default is true.
    open var groupsByEvent = true
    /// The maximum number of groups, of which the oldest are removed first. The default is 0, for no limit.
    open var levelsOfUndo = 0 { didSet { trim() } }
    /// Whether registration is enabled.
    open var isUndoRegistrationEnabled: Bool { disableCount == 0 }

    // MARK: Registration

    /// Registers an action that undoes a change.
    ///
    /// An action registered during an undo is for the redo, and vice versa; at other times, registering clears the redo stack. Does
    /// nothing while registration is disabled. Without an open group and without ``groupsByEvent``, the program stops with a message;
    /// Apple's class raises an exception.
    ///
    /// - Parameters:
    ///   - target: The argument of the handler. It is not retained; once it is deallocated, the action does nothing.
    ///   - handler: Undoes the change.
    open func registerUndo<TargetType: AnyObject>(withTarget target: TargetType, handler: @escaping (TargetType) -> Void) {
        guard isUndoRegistrationEnabled else { return }
        stopProgram(unless: groupsByEvent || !openGroups.isEmpty, "An undo group must be opened before an undo is registered.")
        weak let target = target
        guard let identifier = target.map(ObjectIdentifier.init) else { return }
        add(UndoGroup.Action(target: identifier) { if let target { handler(target) } })
    }

    /// Works like ``registerUndo(withTarget:handler:)`` for a client that removes its actions itself. Opens a group if none is open.
    func register(for client: ObjectIdentifier, _ run: @escaping () -> Void) {
        guard isUndoRegistrationEnabled else { return }
        let needsGroup = openGroups.isEmpty && !groupsByEvent
        if needsGroup { beginUndoGrouping() }
        add(UndoGroup.Action(target: client, run: run))
        if needsGroup { endUndoGrouping() }
    }

    private func add(_ action: UndoGroup.Action) {
        if openGroups.isEmpty {
            beginUndoGrouping()
            isEventGroupOpen = true
            if clients.isEmpty { closeGroupLater() }
        }
        openGroups[openGroups.count - 1].append(action)
        if !isUndoing, !isRedoing { redoStack = [] }
    }

    /// Disables registration until ``enableUndoRegistration()`` is called equally often. Pending changes of a context are not registered
    /// either, unless they are processed first.
    open func disableUndoRegistration() { disableCount += 1 }

    /// Ends a ``disableUndoRegistration()``. Without one, the program stops with a message; Apple's class raises an exception.
    open func enableUndoRegistration() {
        stopProgram(unless: disableCount > 0, "enableUndoRegistration() was called more often than disableUndoRegistration().")
        disableCount -= 1
    }

    /// Removes all actions to undo and redo, and enables registration. Open groups stay open.
    open func removeAllActions() {
        undoStack = []
        redoStack = []
        for group in openGroups { group.removeAll() }
        disableCount = 0
    }

    /// Removes the actions of a target.
    open func removeAllActions(withTarget target: Any) { removeActions(of: ObjectIdentifier(target as AnyObject)) }

    func removeActions(of target: ObjectIdentifier) {
        for group in undoStack + redoStack + openGroups { group.removeActions(of: target) }
        undoStack.removeAll(where: \.isEmpty)
        redoStack.removeAll(where: \.isEmpty)
    }

    // MARK: Groups

    /// Opens a group: actions registered until it is closed are undone together.
    open func beginUndoGrouping() {
        checkpoint()
        openGroups.append(UndoGroup())
        post(.NSUndoManagerDidOpenUndoGroup)
    }

    /// Closes a group. The outermost one becomes an entry of the undo stack, unless it is empty. Without an open group, the program stops
    /// with a message; Apple's class raises an exception.
    open func endUndoGrouping() {
        checkpoint()
        stopProgram(unless: !openGroups.isEmpty, "endUndoGrouping() was called without an open group.")
        let group = openGroups[openGroups.count - 1]
        post(.NSUndoManagerWillCloseUndoGroup, [NSUndoManagerGroupIsDiscardableKey: group.isDiscardable])
        openGroups.removeLast()
        if openGroups.isEmpty { isEventGroupOpen = false }
        if !group.isEmpty {
            if let outer = openGroups.last {
                outer.append(group)
            } else {
                undoStack.append(group)
                trim()
            }
        }
        post(.NSUndoManagerDidCloseUndoGroup)
    }

    private func trim() {
        guard levelsOfUndo > 0 else { return }
        if undoStack.count > levelsOfUndo { undoStack.removeFirst(undoStack.count - levelsOfUndo) }
        if redoStack.count > levelsOfUndo { redoStack.removeFirst(redoStack.count - levelsOfUndo) }
    }

    /// Closes the group that the event has opened.
    func closeEventGroup() {
        if isEventGroupOpen, openGroups.count == 1, !isUndoing, !isRedoing { endUndoGrouping() }
    }

    private func closeGroupLater() {
        guard Thread.isMainThread else { return }
        let manager = QueueBound(WeakManager(self), on: ContextQueue.main)
        DispatchQueue.main.async { manager.value.manager?.closeEventGroup() }
    }

    // MARK: Undo and redo

    /// Closes the open group, if there is one, and undoes the last group. Does nothing if there is none. More than one open group stops the program
    /// with a message; Apple's class raises an exception.
    open func undo() {
        checkpoint()
        stopProgram(unless: openGroups.count <= 1, "undo() was called with \(openGroups.count) open groups; close them first.")
        if openGroups.count == 1 { endUndoGrouping() }
        undoNestedGroup()
    }

    /// Undoes the last group, which may be a closed group within an open one. The open group must have no later actions.
    open func undoNestedGroup() {
        checkpoint()
        guard !isUndoing, !isRedoing else { return }
        let group: UndoGroup?
        if let open = openGroups.last {
            group = open.removeLastGroup()
            stopProgram(
                unless: group != nil || open.isEmpty, "undoNestedGroup() was called with actions in the open group; close it first.")
        } else {
            group = undoStack.popLast()
        }
        guard let group else { return }
        post(.NSUndoManagerWillUndoChange)
        isUndoing = true
        let recorded = record(group)
        isUndoing = false
        if !recorded.isEmpty { redoStack.append(recorded) }
        trim()
        post(.NSUndoManagerDidUndoChange)
    }

    /// Redoes the last undone group. Does nothing if there is none. An open group stops the program with a message; Apple's class raises an
    /// exception.
    open func redo() {
        checkpoint()
        guard !isUndoing, !isRedoing, let group = redoStack.last else { return }
        closeEventGroup()
        stopProgram(unless: openGroups.isEmpty, "redo() was called with an open group; close it first.")
        redoStack.removeLast()
        post(.NSUndoManagerWillRedoChange)
        isRedoing = true
        let recorded = record(group)
        isRedoing = false
        if !recorded.isEmpty { undoStack.append(recorded) }
        trim()
        post(.NSUndoManagerDidRedoChange)
    }

    /// Performs a group and returns the actions registered meanwhile.
    private func record(_ group: UndoGroup) -> UndoGroup {
        let outer = openGroups
        let recorded = UndoGroup()
        recorded.actionName = group.actionName
        recorded.isDiscardable = group.isDiscardable
        recorded.userInfo = group.userInfo
        openGroups = [recorded]
        group.run()
        while openGroups.count > 1 { endUndoGrouping() }
        openGroups = outer
        return recorded
    }

    // MARK: Clients

    func addClient(_ identifier: ObjectIdentifier, _ registerPending: @escaping () -> Void) { clients[identifier] = registerPending }

    func forgetClient(_ identifier: ObjectIdentifier) {
        clients[identifier] = nil
        removeActions(of: identifier)
    }

    /// Lets all clients register pending changes.
    private func checkpoint() {
        guard !isUndoing, !isRedoing, !isAskingClients else { return }
        isAskingClients = true
        for client in clients.values { client() }
        isAskingClients = false
        post(.NSUndoManagerCheckpoint)
    }

    private func post(_ name: Notification.Name, _ info: [AnyHashable: Any]? = nil) {
        NotificationCenter.default.post(name: name, object: self, userInfo: info)
    }

    // MARK: Names (see UndoManager+ActionNames.swift)

    /// The group that a name applies to: the open one, otherwise the last one to undo.
    final var groupToDescribe: UndoGroup? { openGroups.last ?? undoStack.last }
    final var lastUndoGroup: UndoGroup? { openGroups.first { !$0.isEmpty } ?? undoStack.last }
    final var lastRedoGroup: UndoGroup? { redoStack.last }
}

/// A weak reference.
private struct WeakManager {
    weak var manager: UndoManager?
    init(_ manager: UndoManager) { self.manager = manager }
}
