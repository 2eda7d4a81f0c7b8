public import Foundation

/// Records how to take changes back, and takes them back in groups.
///
/// Foundation on Linux has none; this one has the names and the behaviour of Apple's. It belongs to one queue, that of the context it is
/// set on (``NSManagedObjectContext/undoManager``), and is to be used there only.
///
/// ```swift
/// context.undoManager = UndoManager()
/// album.title = "Trust"
/// context.undo()
/// ```
///
/// **Events.** With ``groupsByEvent`` a group opens by itself with the first registration and closes at the end of the event. On Apple's
/// platforms that is a turn of the run loop. Here it is a block of the context's queue (`perform`, `performAndWait`, or what runs in one
/// turn of the main queue); without a context on the main thread, a turn of the main queue; elsewhere the group stays open until
/// ``undo()``.
///
/// Source: [UndoManager](https://developer.apple.com/documentation/foundation/undomanager).
open class UndoManager: NSObject {
    private var undoStack: [UndoGroup] = []
    private var redoStack: [UndoGroup] = []
    /// The groups that are open, the outermost first. While undoing or redoing, those of what is recorded.
    private var openGroups: [UndoGroup] = []
    private var disableCount = 0
    /// Whether the open group has opened by itself.
    private var isEventGroupOpen = false
    /// Who is to register what is pending before a group opens, closes or is undone.
    private var clients: [ObjectIdentifier: () -> Void] = [:]
    private var isAskingClients = false

    /// Makes a manager with nothing to undo.
    public override init() { super.init() }

    // MARK: State

    /// Whether an undo is being carried out.
    open private(set) var isUndoing = false
    /// Whether a redo is being carried out.
    open private(set) var isRedoing = false
    /// Whether there is anything to undo; of an open group, too.
    open var canUndo: Bool { !undoStack.isEmpty || openGroups.contains { !$0.isEmpty } }
    /// Whether there is anything to redo. Asking registers what is pending, which leaves nothing to redo.
    open var canRedo: Bool {
        checkpoint()
        return !redoStack.isEmpty
    }
    /// How often an undo finds something to do.
    open var undoCount: Int { undoStack.count }
    /// How often a redo finds something to do.
    open var redoCount: Int { redoStack.count }
    /// How many groups are open within each other.
    open var groupingLevel: Int { openGroups.count }
    /// Whether a group opens by itself with the first registration of an event. True unless set.
    open var groupsByEvent = true
    /// How many groups are kept, the oldest going first; 0, the default, for no limit.
    open var levelsOfUndo = 0 { didSet { trim() } }
    /// Whether registrations are taken.
    open var isUndoRegistrationEnabled: Bool { disableCount == 0 }

    // MARK: Registration

    /// Registers what takes a change back.
    ///
    /// What is registered while an undo is carried out is for the redo, and the other way round; at other times there is nothing to redo
    /// any more. Does nothing while registration is disabled. Without an open group and without ``groupsByEvent`` the program is stopped
    /// with a message; Apple's raises.
    ///
    /// - Parameters:
    ///   - target: what the handler is called with. It is not kept alive; once it is gone the action does nothing.
    ///   - handler: takes the change back.
    open func registerUndo<TargetType: AnyObject>(withTarget target: TargetType, handler: @escaping (TargetType) -> Void) {
        guard isUndoRegistrationEnabled else { return }
        precondition(groupsByEvent || !openGroups.isEmpty, "An undo group must be opened before an undo is registered.")
        weak let target = target
        guard let identifier = target.map(ObjectIdentifier.init) else { return }
        add(UndoGroup.Action(target: identifier) { if let target { handler(target) } })
    }

    /// As ``registerUndo(withTarget:handler:)``, for a client that sees to it itself that the action goes with it. A group opens for it if none is.
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

    /// Stops taking registrations until ``enableUndoRegistration()`` is called as often. What a context has pending is not registered
    /// either, unless it is processed first.
    open func disableUndoRegistration() { disableCount += 1 }

    /// Ends a ``disableUndoRegistration()``. Without one the program is stopped with a message; Apple's raises.
    open func enableUndoRegistration() {
        precondition(disableCount > 0, "enableUndoRegistration() was called more often than disableUndoRegistration().")
        disableCount -= 1
    }

    /// Forgets everything there is to undo and to redo, and takes registrations again. Open groups stay open.
    open func removeAllActions() {
        undoStack = []
        redoStack = []
        for group in openGroups { group.removeAll() }
        disableCount = 0
    }

    /// Forgets the actions of a target.
    open func removeAllActions(withTarget target: Any) { removeActions(of: ObjectIdentifier(target as AnyObject)) }

    func removeActions(of target: ObjectIdentifier) {
        for group in undoStack + redoStack + openGroups { group.removeActions(of: target) }
        undoStack.removeAll(where: \.isEmpty)
        redoStack.removeAll(where: \.isEmpty)
    }

    // MARK: Groups

    /// Opens a group: what is registered until it is closed is undone together.
    open func beginUndoGrouping() {
        checkpoint()
        openGroups.append(UndoGroup())
        post(.NSUndoManagerDidOpenUndoGroup)
    }

    /// Closes a group. The outermost one becomes something to undo, unless it is empty. Without an open group the program is stopped with a
    /// message; Apple's raises.
    open func endUndoGrouping() {
        checkpoint()
        precondition(!openGroups.isEmpty, "endUndoGrouping() was called without an open group.")
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

    /// The event is over: the group that it has opened closes.
    func closeEventGroup() {
        if isEventGroupOpen, openGroups.count == 1, !isUndoing, !isRedoing { endUndoGrouping() }
    }

    private func closeGroupLater() {
        guard Thread.isMainThread else { return }
        let manager = Handover(WeakManager(self), on: ContextQueue.main)
        DispatchQueue.main.async { manager.value.manager?.closeEventGroup() }
    }

    // MARK: Undo and redo

    /// Closes the open group, if there is one, and undoes the last group. Does nothing where there is none. More than one open group stops
    /// the program with a message; Apple's raises.
    open func undo() {
        checkpoint()
        precondition(openGroups.count <= 1, "undo() was called with \(openGroups.count) open groups; close them first.")
        if openGroups.count == 1 { endUndoGrouping() }
        undoNestedGroup()
    }

    /// Undoes the last group, which may be one that was closed within an open group. What is open must have nothing after it.
    open func undoNestedGroup() {
        checkpoint()
        guard !isUndoing, !isRedoing else { return }
        let group: UndoGroup?
        if let open = openGroups.last {
            group = open.removeLastGroup()
            precondition(group != nil || open.isEmpty, "undoNestedGroup() was called with actions in the open group; close it first.")
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

    /// Makes the last undo undone. Does nothing where there is none. An open group stops the program with a message; Apple's raises.
    open func redo() {
        checkpoint()
        guard !isUndoing, !isRedoing, let group = redoStack.last else { return }
        closeEventGroup()
        precondition(openGroups.isEmpty, "redo() was called with an open group; close it first.")
        redoStack.removeLast()
        post(.NSUndoManagerWillRedoChange)
        isRedoing = true
        let recorded = record(group)
        isRedoing = false
        if !recorded.isEmpty { undoStack.append(recorded) }
        trim()
        post(.NSUndoManagerDidRedoChange)
    }

    /// Carries a group out and answers what was registered meanwhile.
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

    /// Lets everyone register what is pending.
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

    /// The group that a name set now belongs to: the one that is open, else the last to undo.
    final var groupToDescribe: UndoGroup? { openGroups.last ?? undoStack.last }
    final var lastUndoGroup: UndoGroup? { openGroups.first { !$0.isEmpty } ?? undoStack.last }
    final var lastRedoGroup: UndoGroup? { redoStack.last }
}

/// A reference that keeps nothing alive.
private struct WeakManager {
    weak var manager: UndoManager?
    init(_ manager: UndoManager) { self.manager = manager }
}
