// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {Deposit} from "../Deposit.sol";
import {DepositFactory} from "../DepositFactory.sol";

/// As the standard says. Anyone may make as many as he likes.
contract OrdinaryToken is ERC20("Ordinary", "ORD") {
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}

/// Like Tether's on Ethereum: `transfer` returns nothing.
contract NoReturnToken {
    mapping(address => uint256) public balanceOf;

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function transfer(address to, uint256 amount) external {
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
    }
}

/// Keeps one percent of each transfer.
contract FeeToken is OrdinaryToken {
    function transfer(address to, uint256 amount) public override returns (bool) {
        _burn(msg.sender, amount / 100);
        return super.transfer(to, amount - amount / 100);
    }
}

/// Tells of failure by its answer alone, as the standard also allows.
contract FalseToken is OrdinaryToken {
    function transfer(address, uint256) public pure override returns (bool) {
        return false;
    }
}

/// Like Tether's on Tron: pays, and answers false.
contract PayingFalseToken is OrdinaryToken {
    function transfer(address to, uint256 amount) public override returns (bool) {
        super.transfer(to, amount);
        return false;
    }
}

/// Answers that it paid, and did not.
contract LyingToken is OrdinaryToken {
    function transfer(address, uint256) public pure override returns (bool) {
        return true;
    }
}

/// Refuses those that its issuer blocked.
contract BlockingToken is OrdinaryToken {
    mapping(address => bool) private blocked;

    function block_(address account) external {
        blocked[account] = true;
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        require(!blocked[msg.sender], "blocked");
        return super.transfer(to, amount);
    }
}

contract RevertingToken is OrdinaryToken {
    function transfer(address, uint256) public pure override returns (bool) {
        revert("blacklisted");
    }
}

/// Takes 200,000 gas, as those that rebase or lend may.
contract CostlyToken is OrdinaryToken {
    function transfer(address to, uint256 amount) public override returns (bool) {
        uint256 enough = gasleft() - 200_000;
        while (gasleft() > enough) {}
        return super.transfer(to, amount);
    }
}

/// Uses up all gas that it is given.
contract BurningToken is OrdinaryToken {
    function transfer(address, uint256) public pure override returns (bool) {
        assembly ("memory-safe") {
            invalid()
        }
    }
}

/// Fails with a reason so long that copying it costs more gas than the transfer.
contract BombToken is OrdinaryToken {
    function transfer(address, uint256) public pure override returns (bool) {
        assembly {
            revert(0, 100000)
        }
    }
}

/// Calls everything that can be called while it is being transferred, for its own good.
contract ReentrantToken is OrdinaryToken {
    DepositFactory private immutable FACTORY;
    uint256 public attempts;

    constructor(DepositFactory factory) {
        FACTORY = factory;
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        if (attempts++ < 2) {
            uint256[] memory indexes = new uint256[](3);
            (indexes[1], indexes[2]) = (1, 2);
            address[] memory tokens = new address[](2);
            tokens[1] = address(this);
            Deposit(payable(msg.sender)).flush(address(0));
            Deposit(payable(msg.sender)).flush(address(this));
            FACTORY.sweep(address(this), indexes, tokens);
            FACTORY.sweep(to, indexes, tokens);
        }
        // What the calls above have left.
        uint256 balance = balanceOf(msg.sender);
        return super.transfer(to, amount < balance ? amount : balance);
    }

    receive() external payable {}
}
