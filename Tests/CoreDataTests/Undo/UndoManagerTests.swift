import CoreData
import TestSupport
import Testing

/// A number whose changes can be taken back.
private final class Counter {
    let manager: UndoManager
    private(set) var value = 0
    init(_ manager: UndoManager) { self.manager = manager }

    func set(_ new: Int) {
        let old = value
        manager.registerUndo(withTarget: self) { $0.set(old) }
        value = new
    }
}

@Suite("An undo manager") struct UndoManagerTests {
    private func manual() -> (UndoManager, Counter) {
        let manager = UndoManager()
        manager.groupsByEvent = false
        return (manager, Counter(manager))
    }

    private func group(_ manager: UndoManager, _ body: () -> Void) {
        manager.beginUndoGrouping()
        body()
        manager.endUndoGrouping()
    }

    @Test("It takes groups back and makes them again, the last one first")
    func groups() {
        let (manager, counter) = manual()
        #expect(!manager.canUndo && !manager.canRedo)
        group(manager) {
            counter.set(1)
            counter.set(2)
        }
        group(manager) { counter.set(3) }
        expect(manager.undoCount, equals: 2)
        manager.undo()
        expect(counter.value, equals: 2)
        manager.undo()
        #expect(counter.value == 0 && !manager.canUndo && manager.redoCount == 2)
        manager.undo()
        manager.redo()
        expect(counter.value, equals: 2)
        manager.redo()
        #expect(counter.value == 3 && !manager.canRedo)
        manager.undo()
        expect(counter.value, equals: 2)
    }

    @Test("A new change leaves nothing to redo")
    func newChange() {
        let (manager, counter) = manual()
        group(manager) { counter.set(1) }
        manager.undo()
        group(manager) { counter.set(5) }
        #expect(!manager.canRedo)
        manager.undo()
        expect(counter.value, equals: 0)
    }

    @Test("Nested groups are undone with the outer one, or by themselves while it is open")
    func nesting() {
        let (manager, counter) = manual()
        manager.beginUndoGrouping()
        group(manager) { counter.set(1) }
        group(manager) { counter.set(2) }
        expect(manager.groupingLevel, equals: 1)
        manager.undoNestedGroup()
        expect(counter.value, equals: 1)
        manager.endUndoGrouping()
        manager.undo()
        expect(counter.value, equals: 0)
    }

    @Test("By event, a group opens by itself, and undo closes it")
    func byEvent() {
        let manager = UndoManager()
        let counter = Counter(manager)
        counter.set(1)
        counter.set(2)
        expect(manager.groupingLevel, equals: 1)
        manager.undo()
        #expect(counter.value == 0 && manager.groupingLevel == 0)
    }

    @Test("What is registered while registration is disabled is not undone")
    func disabled() {
        let (manager, counter) = manual()
        group(manager) { counter.set(1) }
        manager.disableUndoRegistration()
        manager.disableUndoRegistration()
        counter.set(2)
        manager.enableUndoRegistration()
        #expect(!manager.isUndoRegistrationEnabled)
        manager.enableUndoRegistration()
        #expect(manager.isUndoRegistrationEnabled && manager.undoCount == 1)
        manager.undo()
        expect(counter.value, equals: 0)
    }

    @Test("Only so many levels are kept, and an empty group is none")
    func levels() {
        let (manager, counter) = manual()
        manager.levelsOfUndo = 2
        for number in 1...5 { group(manager) { counter.set(number) } }
        group(manager) {}
        expect(manager.undoCount, equals: 2)
        manager.undo()
        manager.undo()
        manager.undo()
        expect(counter.value, equals: 3)
        manager.redo()
        manager.levelsOfUndo = 1
        expect(manager.undoCount, equals: 1)
    }

    @Test("Actions go with their target, or when they are removed")
    func removal() {
        let (manager, counter) = manual()
        var other: Counter? = Counter(manager)
        group(manager) { counter.set(1) }
        group(manager) { other?.set(2) }
        manager.removeAllActions(withTarget: other as Any)
        expect(manager.undoCount, equals: 1)
        group(manager) { other?.set(3) }
        other = nil
        manager.undo()
        expect(counter.value, equals: 1)
        manager.undo()
        expect(counter.value, equals: 0)
        manager.disableUndoRegistration()
        manager.removeAllActions()
        #expect(!manager.canUndo && !manager.canRedo && manager.isUndoRegistrationEnabled)
    }

    @Test("Names, titles, values and whether it matters go with a group to the redo stack and back")
    func names() {
        let (manager, counter) = manual()
        #expect(manager.undoMenuItemTitle == "Undo" && manager.redoMenuItemTitle == "Redo")
        let key = UndoManager.UserInfoKey(rawValue: "who")
        group(manager) {
            counter.set(1)
            manager.setActionName("Typing")
            manager.setActionIsDiscardable(true)
            manager.setActionUserInfoValue("me", forKey: key)
        }
        #expect(manager.undoMenuItemTitle == "Undo Typing" && manager.undoActionIsDiscardable)
        expect(manager.undoActionUserInfoValue(forKey: key) as? String, equals: "me")
        manager.undo()
        #expect(manager.redoMenuItemTitle == "Redo Typing" && manager.redoActionIsDiscardable && manager.undoActionName == "")
        expect(manager.redoActionUserInfoValue(forKey: key) as? String, equals: "me")
        manager.redo()
        expect(manager.undoActionName, equals: "Typing")
    }

    @Test("It tells of groups, undos and redos in Apple's order, and knows what it is doing")
    func notifications() {
        let (manager, counter) = manual()
        var told: [String] = []
        let names: [Notification.Name] = [
            .NSUndoManagerCheckpoint, .NSUndoManagerDidOpenUndoGroup, .NSUndoManagerWillCloseUndoGroup, .NSUndoManagerDidCloseUndoGroup,
            .NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange, .NSUndoManagerWillRedoChange, .NSUndoManagerDidRedoChange,
        ]
        let observers = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) {
                [tell = Handed(value: { told.append($0) })] note in
                tell.value(
                    note.name.rawValue.replacingOccurrences(of: "NSUndoManager", with: "").replacingOccurrences(
                        of: "Notification", with: ""))
            }
        }
        defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
        group(manager) { counter.set(1) }
        expect(told, equals: ["Checkpoint", "DidOpenUndoGroup", "Checkpoint", "WillCloseUndoGroup", "DidCloseUndoGroup"])
        told = []
        var states: [Bool] = []
        manager.beginUndoGrouping()
        manager.registerUndo(withTarget: counter) { _ in states += [manager.isUndoing, manager.isRedoing] }
        manager.endUndoGrouping()
        told = []
        manager.undo()
        expect(states, equals: [true, false])
        expect(told.filter { $0 != "Checkpoint" }, equals: ["WillUndoChange", "DidUndoChange"])
        manager.undo()
        told = []
        manager.redo()
        expect(told.filter { $0 != "Checkpoint" }, equals: ["WillRedoChange", "DidRedoChange"])
    }

    @Test("Mistakes stop the program with a message")
    func mistakes() async {
        await #expect(processExitsWith: .failure) { UndoManager().endUndoGrouping() }
        await #expect(processExitsWith: .failure) { UndoManager().enableUndoRegistration() }
        await #expect(processExitsWith: .failure) {
            let manager = UndoManager()
            manager.groupsByEvent = false
            manager.registerUndo(withTarget: NSObject()) { _ in }
        }
        await #expect(processExitsWith: .failure) {
            let manager = UndoManager()
            manager.beginUndoGrouping()
            manager.beginUndoGrouping()
            manager.undo()
        }
    }
}
